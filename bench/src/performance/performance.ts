import type { Aim } from '../aims.js'
import type { BenchmarkName } from '../options.js'

/** The results as `--json` writes them. */
export interface Performance {
  node: string
  machine: string
  /** The time of the start. */
  at: string
  seconds: number
  rounds: number
  benchmarks: Partial<Record<BenchmarkName, { results: object[]; aims: Aim[] }>>
}
