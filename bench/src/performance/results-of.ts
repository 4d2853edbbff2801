import { type Part, parts } from '../cpu-time.js'
import type { BenchmarkName } from '../options.js'
import type { Result } from '../report.js'
import type { Performance } from './performance.js'

/** The results of a benchmark that measure events. Other results have no connections. */
export function resultsOf(performance: Performance, name: BenchmarkName): Result[] {
  return (performance[name]?.results ?? []).filter((result): result is Result => 'connections' in result)
}

export const partNames: Record<Part, string> = {
  api: 'API',
  worker: 'worker',
  redis: 'Redis',
  postgres: 'Postgres',
}

/** The cost of an event in each running part. */
export function costsOf({
  cpuMicrosPerEvent,
}: Pick<Result, 'cpuMicrosPerEvent'>): { part: Part; micros: number }[] {
  return parts.flatMap((part) => {
    const micros = cpuMicrosPerEvent[part]
    return micros === undefined ? [] : [{ part, micros }]
  })
}
