import { mapParts, type PerPart, readCpuMicros } from './cpu-time.js'
import { type LoadOrder, startLoad } from './load.js'

/** One measurement of one round. */
export interface Figures {
  /** Done events: outcome, counters and tasks are committed. null where no worker runs. */
  eventsPerSecond: number | null
  /** Answered requests: where callers do not wait for the outcome, of some the event is still to be done. */
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  /** Each request brings one event. Empty where the system does not tell. */
  cpuMicrosPerEvent: PerPart
}

const warmUpSeconds = 1

/** Puts one load on the processes, and counts until everything that was accepted is done. */
export async function measure(options: {
  order: Omit<LoadOrder, 'seconds'>
  pids: PerPart
  seconds: number
  /** Waits until all accepted events are done: given where an answer does not say so itself, and a worker runs. */
  drain?: (() => Promise<void>) | undefined
}): Promise<Figures> {
  const { order, pids, seconds, drain } = options
  const load = startLoad(order)
  try {
    await load.run(warmUpSeconds)
    await drain?.()
    const cpuBefore = readCpuMicros(pids)
    const startedAt = performance.now()
    const { requests, elapsedSeconds, p50Ms, p99Ms } = await load.run(seconds)
    await drain?.()
    const doneSeconds = drain ? (performance.now() - startedAt) / 1_000 : elapsedSeconds
    const cpuAfter = readCpuMicros(pids)
    return {
      eventsPerSecond: pids.worker === undefined ? null : requests / doneSeconds,
      requestsPerSecond: requests / elapsedSeconds,
      p50Ms,
      p99Ms,
      cpuMicrosPerEvent: shareCpu(cpuBefore, cpuAfter, requests),
    }
  } finally {
    await load.stop()
  }
}

function shareCpu(before: PerPart, after: PerPart, events: number): PerPart {
  return mapParts(after, (part, micros) => (micros - (before[part] ?? 0)) / events)
}
