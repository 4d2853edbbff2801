import { sumCpu, whole } from '../report.js'
import type { Performance } from './performance.js'
import { resultsOf } from './results-of.js'

/** The maximum planned utilization: above it, waits grow faster than throughput. */
const busyShare = 0.7
const microsPerCore = 1_000_000 * busyShare
const workerCounts = [1, 10, 100, 1_000]
const modelled = ['10 rules, 1 matches, 1 task', 'async']

/**
 * Computes from the cost of an event in each part what a number of busy workers needs. A process of API, worker or Redis has
 * one core, Postgres has all cores of its machine.
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
