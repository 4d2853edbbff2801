import type { Product } from '@automation/launcher'
import type { Aim } from './aims.js'
import type { Figures } from './measure.js'
import type { Measurement } from './measurements.js'
import { type Result, summarize } from './report.js'
import { takeTurns } from './rounds.js'

/** A benchmark with its options, ready to run. */
export type Plan = ProductPlan | { workers: null; run(): Promise<Report> }

export interface ProductPlan {
  /** The number of workers that run from the start. */
  workers: number
  run(product: Product): Promise<Report>
}

export interface Report {
  /** The results as `--json` writes them. */
  results: object[]
  /** The aims and the measured results. */
  aims?: Aim[]
  /** The report as text. */
  text: string
}

/** All measurements in turn, so that other load on the machine affects them alike. */
export async function runRounds<Wanted extends Measurement>(
  measurements: Wanted[],
  rounds: number,
  measure: (measurement: Wanted) => Promise<Figures>,
): Promise<Result[]> {
  const figures = await takeTurns(measurements, rounds, async (measurement, round) => {
    const result = await measure(measurement)
    console.error(`round ${round}/${rounds}  ${measurement.label}  ${formatPace(result)}`)
    return result
  })
  return [...figures].map(([{ scenario, connections }, ofRounds]) =>
    summarize(scenario.name, connections, ofRounds),
  )
}

function formatPace({ donePerSecond, acceptedPerSecond }: Figures): string {
  const accepted = `${Math.round(acceptedPerSecond)} accepted/s`
  return donePerSecond === null ? accepted : `${accepted}, ${Math.round(donePerSecond)} done/s`
}
