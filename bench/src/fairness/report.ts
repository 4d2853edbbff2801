import { type Aim, createAim, ratiosOf } from '../aims.js'
import type { PerPart } from '../cpu-time.js'
import { alignColumns, whole } from '../report.js'
import type { Waits } from '../statistics.js'

/** One flood. */
export interface FairnessFigures {
  scenario: string
  /** Number of events. */
  flood: number
  acceptedPerSecond: number
  /** From the start of the flood in the worker until its last event is done. */
  donePerSecond: number
  /** The waits of quiet workspaces before and during the flood. */
  alone: Waits
  flooded: Waits
  cpuMicrosPerEvent: PerPart
}

/** A line for each flood. */
export function formatFairness(results: FairnessFigures[]): string {
  const head = [
    'flood',
    'done/s',
    'accepted/s',
    'quiet p50',
    'p95',
    'in flood p50',
    'p95',
    'max',
    'extra p95',
  ]
  const cpuHead = ['API', 'worker', 'Redis', 'Postgres']
  const rows = results.map((it) => [
    it.scenario,
    ...[it.donePerSecond, it.acceptedPerSecond, it.alone.p50Ms, it.alone.p95Ms].map(whole),
    ...[it.flooded.p50Ms, it.flooded.p95Ms, it.flooded.maxMs, extraOf(it)].map(whole),
    ...(['api', 'worker', 'redis', 'postgres'] as const).map((part) =>
      whole(it.cpuMicrosPerEvent[part] ?? NaN),
    ),
  ])
  return alignColumns([[...head, ...cpuHead], ...rows])
}

export function aimsOf(results: FairnessFigures[]): Aim[] {
  const [fair, plain] = ['fair share', 'first come'].map((name) =>
    results.filter(({ scenario }) => scenario === name),
  ) as [FairnessFigures[], FairnessFigures[]]
  if (fair.length === 0) return []
  const done = ({ donePerSecond }: FairnessFigures) => donePerSecond
  const extra = {
    title: 'flood: p95 of the extra wait, ms',
    rounds: fair.map(extraOf),
    atMost: 250,
    digits: 0,
  }
  const rates = ratiosOf(fair.map(done), plain.map(done))
  const share = { title: 'flood: events/s of first come', rounds: rates, atLeast: 0.9, digits: 2 }
  return [createAim(extra), ...(plain.length === 0 ? [] : [createAim(share)])]
}

function extraOf({ alone, flooded }: FairnessFigures): number {
  return flooded.p95Ms - alone.p95Ms
}
