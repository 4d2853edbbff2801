import { type PerPart, type PidsPerPart, readCpuMicros, shareCpu } from './cpu-time.js'
import { type LoadOrder, startLoad } from './load/load.js'
import { warmUp } from './load/warm-up.js'

/** One measurement of one round. */
export interface Figures {
  /** Events per second with committed executions, counters and tasks; null if nothing runs them. */
  donePerSecond: number | null
  /** Events per second with a response. If callers do not wait for the outcome, some of these events are not done yet. */
  acceptedPerSecond: number
  /** The wait of a caller. */
  p50Ms: number
  p99Ms: number
  /** Empty if the system does not report it. */
  cpuMicrosPerEvent: PerPart
}

export interface Measuring {
  order: Omit<LoadOrder, 'seconds' | 'ratePerSecond'>
  pids: PidsPerPart
  seconds: number
  eventsPerRequest?: number
}

/** Applies one load to the processes, and measures until all accepted events are done. */
export async function measure(
  options: Measuring & {
    /** Waits until all accepted events are done. Needed if responses come before outcomes and a worker runs. */
    drain?: (() => Promise<void>) | undefined
  },
): Promise<Figures> {
  const { order, pids, seconds, drain, eventsPerRequest = 1 } = options
  const load = startLoad(order)
  try {
    await warmUp(load, pids)
    await drain?.()
    const cpuBefore = readCpuMicros(pids)
    const startedAt = performance.now()
    const { requests, elapsedSeconds, p50Ms, p99Ms } = await load.run(seconds)
    await drain?.()
    const doneSeconds = drain ? (performance.now() - startedAt) / 1_000 : elapsedSeconds
    const events = requests * eventsPerRequest
    return {
      donePerSecond: pids.worker === undefined ? null : events / doneSeconds,
      acceptedPerSecond: events / elapsedSeconds,
      p50Ms,
      p99Ms,
      cpuMicrosPerEvent: shareCpu(cpuBefore, readCpuMicros(pids), events),
    }
  } finally {
    await load.stop()
  }
}
