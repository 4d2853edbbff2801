import { parseDuration } from '../times/duration.js'

/** A duration (ms) of a part without faults. */
export function durationMs(duration: string): number {
  const ms = parseDuration(duration)
  if (ms === undefined) throw new Error(`perKey has the faulty duration ${duration}`)
  return ms
}
