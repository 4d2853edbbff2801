import type { RunningProcess } from '@automation/launcher'
import { drainBacklog } from './backlog.js'
import { measureCpu, type Pids } from './cpu-time.js'
import { type LoadOrder, startLoad } from './load/load.js'
import { warmUp } from './load/warm-up.js'
import type { Stage } from './product.js'
import type { Figures } from './table.js'

interface Measuring {
  label: string
  order: Omit<LoadOrder, 'seconds' | 'ratePerSecond'>
  pids: Pids
  seconds: number
  eventsPerRequest?: number
}

/**
 * Applies one load to the processes in a closed loop.
 *
 * @param done `with responses`: an event is done when its caller has the response. A function waits until all events are done. Without
 * it events are only accepted, or nothing is an event
 * @param afterWarmUp returns the tables to the state that is measured
 */
export async function measure(
  { profiles }: Pick<Stage, 'profiles'>,
  options: Measuring & { done?: 'with responses' | (() => Promise<void>); afterWarmUp?: () => Promise<void> },
): Promise<Figures> {
  const { label, order, pids, seconds, done, eventsPerRequest = 1, afterWarmUp } = options
  const drain = typeof done === 'function' ? done : async () => {}
  const load = startLoad(order)
  try {
    await warmUp(load, pids)
    await drain()
    await afterWarmUp?.()
    return await profiles.during(label, pids, async () => {
      const costs = measureCpu(pids)
      const startedAt = performance.now()
      const { requests, elapsedSeconds, p50Ms, p99Ms } = await load.run(seconds)
      await drain()
      const doneSeconds =
        typeof done === 'function' ? (performance.now() - startedAt) / 1_000 : elapsedSeconds
      const events = requests * eventsPerRequest
      return {
        ...(done && { 'done/s': events / doneSeconds }),
        ...{ 'accepted/s': events / elapsedSeconds, 'p50 ms': p50Ms, 'p99 ms': p99Ms },
        ...costs(events),
      }
    })
  } finally {
    await load.stop()
  }
}

/** Runs something while workers are stopped. Only idle workers are stopped, so they hold no job whose lock could expire meanwhile. */
export async function whileStopped<Result>(
  workers: readonly RunningProcess[],
  run: () => Promise<Result>,
): Promise<Result> {
  for (const worker of workers) worker.kill('SIGSTOP')
  try {
    return await run()
  } finally {
    for (const worker of workers) worker.kill('SIGCONT')
  }
}

/**
 * Measures acceptance and execution separately: the workers are stopped while events are accepted, and then run the backlog. So neither takes
 * CPU time from the other.
 */
export async function measureBacklog(
  { database, postgres, profiles }: Stage,
  { label, order, pids, seconds, workers }: Measuring & { workers: readonly RunningProcess[] },
): Promise<Figures> {
  const load = startLoad(order)
  try {
    await warmUp(load, pids)
    await drainBacklog(database)
    return await profiles.during(label, pids, async () => {
      const costs = measureCpu(pids)
      const { requests, elapsedSeconds, p50Ms, p99Ms } = await whileStopped(workers, async () => {
        const result = await load.run(seconds)
        // Otherwise the plans depend on chance: autovacuum may have analysed the tables while they were empty.
        await postgres.query('ANALYZE events')
        return result
      })
      const startedAt = performance.now()
      await drainBacklog(database)
      return {
        'done/s': (requests * 1_000) / (performance.now() - startedAt),
        'accepted/s': requests / elapsedSeconds,
        ...{ 'p50 ms': p50Ms, 'p99 ms': p99Ms },
        ...costs(requests),
      }
    })
  } finally {
    await load.stop()
  }
}
