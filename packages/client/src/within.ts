/** Timers of browsers and Node end at once if their delay is longer. */
export const longestTimerMs = 2 ** 31 - 1

export interface TimeLimit {
  /** Infinity: no timeout. */
  timeoutMs: number
  signal: AbortSignal | undefined
  /** The error after the timeout. */
  late: () => Error
}

/**
 * Does work that ends with its timeout and with its signal, even if the work ignores the signal that it gets.
 *
 * @throws `late()` after the timeout, or the reason of the aborted signal
 */
export async function within<Value>(
  { timeoutMs, signal, late }: TimeLimit,
  work: (ending: AbortSignal) => Promise<Value>,
): Promise<Value> {
  signal?.throwIfAborted()
  // Not AbortSignal.any and .timeout: those hold on to a signal that outlives many requests.
  const ending = new AbortController()
  let end = (_reason: unknown) => {}
  const ended = new Promise<never>((_, reject) => {
    end = (reason) => {
      reject(reason)
      ending.abort(reason)
    }
  })
  const abort = () => end(signal?.reason)
  signal?.addEventListener('abort', abort)
  const timer =
    timeoutMs === Number.POSITIVE_INFINITY
      ? undefined
      : setTimeout(() => end(late()), Math.min(timeoutMs, longestTimerMs))
  try {
    return await Promise.race([ended, work(ending.signal)])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

/** @throws TypeError for anything but a positive number or Infinity */
export function checkTimeout(timeoutMs: number): void {
  if (typeof timeoutMs !== 'number' || !(timeoutMs > 0))
    throw new TypeError(`timeoutMs must be a positive number of milliseconds or Infinity, not ${timeoutMs}`)
}

/** @throws TypeError for anything but a whole number from 0 on */
export function checkRetries(retries: number): void {
  if (!Number.isInteger(retries) || retries < 0)
    throw new TypeError(`retries must be a whole number from 0 on, not ${retries}`)
}
