import type { Product } from '@automation/launcher'
import type { Aim } from './aims.js'
import type { Figures } from './measure.js'
import type { Measurement } from './measurements.js'
import { type Result, summarize } from './report.js'

/** A benchmark whose options are read: all that is left is to run it. */
export type Plan = ProductPlan | { workers: null; run(): Promise<Report> }

export interface ProductPlan {
  /** That run from the start. */
  workers: number
  run(product: Product): Promise<Report>
}

export interface Report {
  /** As `--json` writes them. */
  results: object[]
  /** What we hold ourselves to, and how far we came. */
  aims?: Aim[]
  /** For people to read. */
  text: string
}

/** Round robin: what else the machine does meanwhile then falls on all measurements alike. */
export async function runRounds<Wanted extends Measurement>(
  measurements: Wanted[],
  rounds: number,
  measure: (measurement: Wanted) => Promise<Figures>,
): Promise<Result[]> {
  const figures = new Map<Wanted, Figures[]>(measurements.map((measurement) => [measurement, []]))
  for (let round = 1; round <= rounds; round++) {
    for (const [measurement, ofRounds] of figures) {
      const result = await measure(measurement)
      ofRounds.push(result)
      console.error(`round ${round}/${rounds}  ${measurement.label}  ${formatPace(result)}`)
    }
  }
  return [...figures].map(([{ scenario, connections }, ofRounds]) =>
    summarize(scenario.name, connections, ofRounds),
  )
}

function formatPace({ donePerSecond, acceptedPerSecond }: Figures): string {
  const accepted = `${Math.round(acceptedPerSecond)} accepted/s`
  return donePerSecond === null ? accepted : `${accepted}, ${Math.round(donePerSecond)} done/s`
}
