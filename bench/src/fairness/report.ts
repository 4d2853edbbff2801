import type { PerPart } from '../cpu-time.js'
import { alignColumns, median } from '../report.js'

/** Percentiles of the callers' waits (ms). */
export interface Quantiles {
  count: number
  p50Ms: number
  p95Ms: number
  maxMs: number
}

/** One flood. */
export interface FairnessFigures {
  scenario: string
  /** Number of events. */
  flood: number
  acceptedPerSecond: number
  /** From the start of the flood in the worker until its last event is done. */
  donePerSecond: number
  /** The waits of quiet workspaces before and during the flood. */
  alone: Quantiles
  flooded: Quantiles
  cpuMicrosPerEvent: PerPart
}

export function quantilesOf(waitsMs: number[]): Quantiles {
  const sorted = Float64Array.from(waitsMs).sort()
  const quantile = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
  return { count: sorted.length, p50Ms: quantile(0.5), p95Ms: quantile(0.95), maxMs: quantile(1) }
}

/** A line for each flood, and the aims, by the medians of the rounds. */
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
  const fair = results.filter(({ scenario }) => scenario === 'fair share')
  const plain = results.filter(({ scenario }) => scenario === 'first come')
  const rates = fair.flatMap((it, round) => {
    const other = plain[round]
    return other === undefined ? [] : [it.donePerSecond / other.donePerSecond]
  })
  const lines = [
    ...(fair.length > 0
      ? [`p95 of the extra wait, fair share: ${whole(median(fair.map(extraOf)))} ms (250 at most)`]
      : []),
    ...(rates.length > 0
      ? [`events done, fair share / first come: ${median(rates).toFixed(2)} (0.90 at least)`]
      : []),
  ]
  return `${alignColumns([[...head, ...cpuHead], ...rows])}\n\n${lines.join('\n')}`.trimEnd()
}

function extraOf({ alone, flooded }: FairnessFigures): number {
  return flooded.p95Ms - alone.p95Ms
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
