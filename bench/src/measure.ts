import { type PerPart, type PidsPerPart, readCpuMicros, shareCpu } from './cpu-time.js'
import { type LoadOrder, startLoad } from './load.js'
import { warmUp } from './warm-up.js'

/** One measurement of one round. */
export interface Figures {
  /** Events a second whose executions, counters and tasks are committed; null where nothing runs them. */
  donePerSecond: number | null
  /** Events a second that were answered: where callers do not wait for the outcome, some of them are still to be done. */
  acceptedPerSecond: number
  /** How long a caller waited. */
  p50Ms: number
  p99Ms: number
  /** Empty where the system does not tell. */
  cpuMicrosPerEvent: PerPart
}

export interface Measuring {
  order: Omit<LoadOrder, 'seconds'>
  pids: PidsPerPart
  seconds: number
  eventsPerRequest?: number
}

/** Puts one load on the processes, and counts until everything that was accepted is done. */
export async function measure(
  options: Measuring & {
    /** Waits until all accepted events are done: given where an answer does not say so itself, and a worker runs. */
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
