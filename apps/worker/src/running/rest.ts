import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'

/** A timer takes a millisecond at least: a rest for less work would take longer than the work. */
export const leastRestMs = 1
export const maxRestMs = 500

/**
 * Leaves the event loop to others for as long as a slice of work took: their events need it many times, briefly.
 *
 * @param tookMs measured; where the process has slept meanwhile, that is no reason for a long rest
 */
export async function rest(tookMs: number): Promise<void> {
  if (tookMs < leastRestMs) await nextTurn()
  else await delay(Math.min(tookMs, maxRestMs))
}
