import { sumCpu, whole } from '../report.js'
import type { Performance } from './performance.js'
import { resultsOf } from './results-of.js'

/** Nothing is planned to be busier than that: above it, waits grow faster than the pace. */
const busyShare = 0.7
const microsPerCore = 1_000_000 * busyShare
const workerCounts = [1, 10, 100, 1_000]
const modelled = ['10 rules, 1 matches, 1 task', 'async']

/**
 * What so many busy workers need around them, from what an event has cost in each part: API, worker and Redis have one core
 * a process, Postgres has as many as its machine.
 */
export function modelCosts(performance: Performance): { head: string[]; rows: string[][] } {
  const head = [
    'each event',
    'workers',
    'events/s',
    'API processes',
    'Redis servers',
    'Postgres cores',
    'cores in all',
  ]
  const rows = modelled.flatMap((name) => {
    const result = resultsOf(performance, 'events').find(
      ({ scenario, connections }) => scenario === name && connections === 128,
    )
    if (result === undefined) return []
    const { api = 0, worker = 0, redis = 0, postgres = 0 } = result.cpuMicrosPerEvent
    return workerCounts.map((workers) => {
      const pace = (workers * microsPerCore) / worker
      const coresOf = (micros: number) => whole(Math.ceil((pace * micros) / microsPerCore))
      const all = whole(Math.ceil((pace * sumCpu(result)) / microsPerCore))
      const parts = [coresOf(api), coresOf(redis), coresOf(postgres), all]
      return [name === 'async' ? 'async' : 'sync, 1 of 10 matches', whole(workers), whole(pace), ...parts]
    })
  })
  return { head, rows }
}
