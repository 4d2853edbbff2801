import type { PerPart } from '../cpu-time.js'
import { alignColumns, sumCpu, whole } from '../report.js'
import { rangeOf, type Waits } from '../statistics.js'
import type { PostgresWork } from './postgres-work.js'

/** One stretch of time under one load. */
export interface SustainedFigures {
  mode: 'sync' | 'async'
  /** capacity: a closed loop. waits: an open loop at a share of the capacity. sustained: the same for longer. */
  line: 'capacity' | 'waits' | 'sustained'
  /** Of the capacity; 1 for the capacity itself. */
  share: number
  round: number
  seconds: number
  workspaces: number
  /** The rate of an open loop; null for a closed one. */
  duePerSecond: number | null
  /** From the first request until the last event is done. */
  donePerSecond: number
  /** From the moment at which a request was due until its response; null for the closed loop. */
  waits: Waits | null
  /** The same for each ten seconds. */
  windows: Waits[]
  /** The longest delay of the load generator itself, which the waits contain. */
  latestMs: number
  failures: number
  isSustained: boolean
  cpuMicrosPerEvent: PerPart
  postgres: PostgresWork
}

export const sustainedHead = [
  'line',
  'due/s',
  'done/s',
  'sustained',
  'p50 / p99 / p99.9 / max ms',
  'p99 of each 10 s',
  'µs CPU',
  'checkpoints, autovacuums',
]

/** The cells of one stretch. */
export function describeSustained(figures: SustainedFigures): string[] {
  const { mode, line, share, seconds, duePerSecond, donePerSecond, waits, windows, postgres } = figures
  const { checkpoints, autovacuums } = postgres
  const name = line === 'capacity' ? 'capacity, closed loop' : `${line}, ${whole(share * 100)} % of capacity`
  const p99s = rangeOf(windows.map(({ p99Ms }) => p99Ms))
  return [
    `${mode}, ${name}, ${whole(seconds)} s`,
    duePerSecond === null ? '' : whole(duePerSecond),
    whole(donePerSecond),
    line === 'capacity' ? '' : figures.isSustained ? 'yes' : 'no',
    waits === null
      ? ''
      : [waits.p50Ms, waits.p99Ms, waits.p999Ms, waits.maxMs].map((ms) => ms.toFixed(0)).join(' / '),
    windows.length === 0 ? '' : `${whole(p99s.low)} to ${whole(p99s.high)}`,
    whole(sumCpu(figures)),
    line === 'capacity' ? '' : `${checkpoints}, ${autovacuums}`,
  ]
}

export function formatSustained(results: SustainedFigures[]): string {
  return alignColumns([sustainedHead, ...results.map(describeSustained)])
}
