import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { listMeasurements, type Measurement } from './scenarios.js'

export interface Options {
  /** File that takes the results as JSON. */
  json: string | undefined
  /** Of each measurement, without its warm-up. */
  seconds: number
  rounds: number
  measurements: Measurement[]
  /** Directory that takes CPU profiles of API and worker. */
  profile: string | undefined
}

export const usage = `npm run bench -- [--seconds 8] [--rounds 3] [--only TEXT] [--json FILE] [--profile DIR]

  --only     measures what has TEXT in its label, as in "async" or "10 matching rules @128"
  --profile  writes a CPU profile of API and worker each, for a browser's developer tools; CPU figures are dearer then`

/** @throws Error that says which argument does not fit */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: 'string' },
      seconds: { type: 'string', default: '8' },
      rounds: { type: 'string', default: '3' },
      only: { type: 'string', default: '' },
      profile: { type: 'string' },
    },
  })
  const seconds = Number(values.seconds)
  const rounds = Number(values.rounds)
  if (!(seconds > 0)) throw new Error(`--seconds ${values.seconds} has to be a number above 0`)
  if (!(Number.isInteger(rounds) && rounds > 0))
    throw new Error(`--rounds ${values.rounds} has to be a whole number above 0`)
  const measurements = chooseMeasurements(values.only)
  if (measurements.length === 0) throw new Error(`--only ${values.only} is in no label`)
  return {
    json: values.json,
    seconds,
    rounds,
    measurements,
    profile: values.profile === undefined ? undefined : resolve(values.profile),
  }
}

/** One whole label means that one alone: "… @1" is also the beginning of "… @128". */
function chooseMeasurements(text: string): Measurement[] {
  const all = listMeasurements()
  const exact = all.filter(({ label }) => label === text)
  return exact.length > 0 ? exact : all.filter(({ label }) => label.includes(text))
}
