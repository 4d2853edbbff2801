import type { Aim } from './aims.js'
import type { Table } from './table.js'

/** A benchmark, as `npm run bench` lists it. */
export interface Benchmark {
  /** What it measures, in one line. */
  about: string
  /** Of each measurement, without its warm-up, unless the command says otherwise. */
  seconds: number
  /** An even number of rounds is as often forwards as backwards. Five are needed to decide an aim. */
  rounds: number
  /** How many events it stores before it measures, unless the command says otherwise; undefined if that is no option of it. */
  stored?: number
  run(options: Options): Promise<Report>
}

export interface Options {
  seconds: number
  rounds: number
  /** Measures only what has this text in its label. */
  only: string
  /** Directory for CPU profiles and the statements of Postgres. */
  profile: string | undefined
  /** 0 for a benchmark without stored events. */
  stored: number
}

export interface Report {
  tables: Table[]
  aims?: Aim[]
}

/**
 * What has the text in its label. A complete label, or one without its connections, selects only that: "… @1" is also the beginning of
 * "… @128", and "sync" a part of "async".
 *
 * @throws Error if there is none
 */
export function choose<Kind extends { label: string }>(all: readonly Kind[], only: string): Kind[] {
  const exact = all.filter(({ label }) => label === only || label.replace(/ @\d+$/, '') === only)
  const chosen = exact.length > 0 ? exact : all.filter(({ label }) => label.includes(only))
  if (chosen.length > 0) return chosen
  throw new Error(`--only ${only} is in none of: ${all.map(({ label }) => label).join(' · ')}`)
}
