import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

const benchmarks = ['events', 'ingest', 'fairness'] as const

export interface Options {
  benchmark: (typeof benchmarks)[number]
  /** File that takes the results as JSON. */
  json: string | undefined
  /** Of each measurement, without its warm-up. */
  seconds: number
  rounds: number
  /** Measures what has this text in its label. */
  only: string
  /** Directory that takes CPU profiles of API and worker. */
  profile: string | undefined
}

export const usage = `npm run bench -- [events|ingest|fairness] [--seconds 8] [--rounds 3] [--only TEXT] [--json FILE] [--profile DIR]

  events     from a caller's request until the rules have run; this is what runs when neither is named
  ingest     from a provider's webhook until it is accepted, beside a plain service that does the same
  fairness   what a flood of one workspace does to the waits of 50 others, with fair shares and without
  --only     measures what has TEXT in its label, as in "async" or "10 matching rules @128"
  --profile  writes a CPU profile of API and worker each, for a browser's developer tools; CPU figures are dearer then`

/** @throws Error that says which argument does not fit */
export function readOptions(args: string[]): Options {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      json: { type: 'string' },
      seconds: { type: 'string', default: '8' },
      rounds: { type: 'string', default: '3' },
      only: { type: 'string', default: '' },
      profile: { type: 'string' },
    },
  })
  const [name = 'events', ...others] = positionals
  const benchmark = benchmarks.find((known) => known === name)
  const seconds = Number(values.seconds)
  const rounds = Number(values.rounds)
  if (benchmark === undefined || others.length > 0)
    throw new Error(`${positionals.join(' ')} is none of ${benchmarks.join(', ')}`)
  if (!(seconds > 0)) throw new Error(`--seconds ${values.seconds} has to be a number above 0`)
  if (!(Number.isInteger(rounds) && rounds > 0))
    throw new Error(`--rounds ${values.rounds} has to be a whole number above 0`)
  return {
    benchmark,
    json: values.json,
    seconds,
    rounds,
    only: values.only,
    profile: values.profile === undefined ? undefined : resolve(values.profile),
  }
}
