/** Shares of the capacity at which waits are measured. */
export const waitShares = [0.25, 0.5, 0.75]
/** Shares of the capacity that are tried until one is sustained. */
export const sustainedShares = [0.9, 0.8, 0.7, 0.6, 0.5]

/** How long the last responses and events of a sustained rate may take. */
const limitSeconds = 2

export interface Outcome {
  seconds: number
  /** Until the last response. */
  elapsedSeconds: number
  /** From the last response until the last event was done. */
  drainSeconds: number
  failures: number
  isOverrun: boolean
}

/** Whether the product kept up with a rate: everything had its response, and no backlog grew. */
export function isSustained({
  seconds,
  elapsedSeconds,
  drainSeconds,
  failures,
  isOverrun,
}: Outcome): boolean {
  const isPrompt = elapsedSeconds - seconds <= limitSeconds && drainSeconds <= limitSeconds
  return isPrompt && failures === 0 && !isOverrun
}
