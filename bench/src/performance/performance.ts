import type { Aim } from '../aims.js'
import type { Noise } from '../machine/noise.js'
import type { Storage } from '../machine/storage.js'
import type { BenchmarkName } from '../options.js'

/** One run of a benchmark, with all that is needed to assess its figures. */
export interface Run {
  command: string
  /** The time of the start. */
  at: string
  /** The short hash, with "-dirty" where files had changed. Runs before 25 November 2026 did not record it. */
  commit?: string
  node: string
  machine: string
  /** null in runs before 23 November 2026, which did not record them. */
  storage: Storage | null
  noise: Noise | null
  /** Duration of each measurement, and how often it was repeated. */
  seconds: number
  rounds: number
  results: object[]
  /** The results as they were printed. */
  text?: string
  aims: Aim[]
}

/** The results as `--json` writes them: the latest run of each benchmark. */
export type Performance = Partial<Record<BenchmarkName, Run>>
