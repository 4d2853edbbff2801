import { type Aim, createAim } from '../aims.js'
import { alignColumns, whole } from '../report.js'
import type { Waits } from '../statistics.js'

/** What happened between two moments. */
export interface Stretch {
  seconds: number
  waits: Waits
  walBytes: number
  postgresMicros: number
  workerMicros: number
}

/** One removal. */
export interface RetentionFigures {
  executions: number
  /** The same callers without the removal and during it. */
  alone: Stretch
  removing: Stretch
  /** CPU time of Postgres for one VACUUM of both tables afterwards. */
  vacuumMicros: number
}

export function aimsOf(results: RetentionFigures[]): Aim[] {
  const extra = results.map(({ alone, removing }) => removing.waits.maxMs - alone.waits.maxMs)
  return [
    createAim({
      title: 'removing executions: what it adds to the longest wait, ms',
      rounds: extra,
      atMost: 100,
      digits: 0,
    }),
  ]
}

/** CPU and log of the removal, without the share of the callers in that time. */
export function formatRetention(results: RetentionFigures[]): string {
  const head = ['', 'seconds', 'calls', 'p50 ms', 'p99 ms', 'p99.9 ms', 'max ms', 'WAL MB/s', 'Postgres CPU']
  const rows = results.flatMap(({ executions, alone, removing }) => [
    describeStretch(`while ${whole(executions)} are removed`, removing),
    describeStretch('as long without', alone),
  ])
  const costs = results.map(({ executions, alone, removing, vacuumMicros }) => {
    const extra = (read: (stretch: Stretch) => number) =>
      (read(removing) - (read(alone) / alone.seconds) * removing.seconds) / executions
    const postgres = extra(({ postgresMicros }) => postgresMicros)
    const worker = extra(({ workerMicros }) => workerMicros)
    const wal = extra(({ walBytes }) => walBytes)
    return `an execution removed, with its tenth of an event: Postgres ${postgres.toFixed(1)} µs + vacuum ${(vacuumMicros / executions).toFixed(1)} µs, worker ${worker.toFixed(1)} µs, ${whole(wal)} bytes of WAL`
  })
  return `${alignColumns([head, ...rows])}\n\n${costs.join('\n')}`
}

function describeStretch(name: string, { seconds, waits, walBytes, postgresMicros }: Stretch): string[] {
  return [
    name,
    seconds.toFixed(1),
    whole(waits.count),
    waits.p50Ms.toFixed(1),
    waits.p99Ms.toFixed(1),
    waits.p999Ms.toFixed(1),
    waits.maxMs.toFixed(1),
    (walBytes / seconds / 1e6).toFixed(2),
    `${((postgresMicros / seconds / 1e6) * 100).toFixed(0)} %`,
  ]
}
