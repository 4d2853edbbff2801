import { measureCpu, type Pids } from '../cpu-time.js'
import type { OpenLoadResult } from '../load/load.js'
import type { Stage } from '../product.js'
import { rangeOf } from '../statistics.js'
import type { Figures } from '../table.js'
import { readPostgresWork, workSince } from './postgres-work.js'

/** Observes a load from its beginning until all of its events are done: the CPU of each part, and what Postgres has done besides. */
export function observe(
  { postgres, profiles }: Pick<Stage, 'postgres' | 'profiles'>,
  label: string,
  pids: Pids,
  run: () => Promise<{ requests: number; figures: Figures }>,
): Promise<Figures> {
  return profiles.during(label, pids, async () => {
    const workBefore = await readPostgresWork(postgres)
    const costs = measureCpu(pids)
    const startedAt = performance.now()
    const { requests, figures } = await run()
    const done = { 'done/s': (requests * 1_000) / (performance.now() - startedAt) }
    const cost = costs(requests)
    const work = workSince(workBefore, await readPostgresWork(postgres))
    return {
      ...done,
      ...figures,
      ...cost,
      ...work,
      'log B an event': ((work['log MB'] ?? 0) * 1e6) / requests,
    }
  })
}

/** From the moment at which a request was due until its response. A checkpoint shows in the worst ten seconds. */
export function describeOpenLoad({ waits, windows, latestMs }: OpenLoadResult): Figures {
  const { p50Ms, p99Ms, p999Ms, maxMs } = waits
  return {
    ...{ 'p50 ms': p50Ms, 'p99 ms': p99Ms, 'p99.9 ms': p999Ms, 'max ms': maxMs },
    'p99 of the worst 10 s': rangeOf(windows.map(({ p99Ms }) => p99Ms)).high,
    'late ms': latestMs,
  }
}
