import { type CpuMicros, type Pids, readCpuMicros } from './cpu-time.js'
import { type LoadOrder, startLoad } from './load.js'

/** One measurement of one round. */
export interface Figures {
  /** Done events: outcome, counters and tasks are committed. null where no worker runs. */
  eventsPerSecond: number | null
  /** Answered requests: where callers do not wait for the outcome, of some the event is still to be done. */
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  /** null where the system does not tell. Each request brings one event. */
  cpuMicrosPerEvent: CpuMicros | null
}

const warmUpSeconds = 1

/** Puts one load on the processes, and counts until everything that was accepted is done. */
export async function measure(options: {
  order: Omit<LoadOrder, 'seconds'>
  pids: Pids
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
      eventsPerSecond: pids.worker === null ? null : requests / doneSeconds,
      requestsPerSecond: requests / elapsedSeconds,
      p50Ms,
      p99Ms,
      cpuMicrosPerEvent: cpuBefore && cpuAfter ? divideCpu(cpuBefore, cpuAfter, requests) : null,
    }
  } finally {
    await load.stop()
  }
}

function divideCpu(before: CpuMicros, after: CpuMicros, events: number): CpuMicros {
  const share = (earlier: number, later: number) => (later - earlier) / events
  return {
    api: share(before.api, after.api),
    worker: before.worker === null || after.worker === null ? null : share(before.worker, after.worker),
    redis: share(before.redis, after.redis),
    postgres: share(before.postgres, after.postgres),
  }
}
