import type { Aim } from '../aims.js'
import type { BenchmarkName } from '../options.js'

/** A run as `--json` writes it. */
export interface Performance {
  node: string
  machine: string
  /** When it began. */
  at: string
  seconds: number
  rounds: number
  benchmarks: Partial<Record<BenchmarkName, { results: object[]; aims: Aim[] }>>
}
