import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Benchmark, Options } from './benchmark.js'

/** The arguments of the command. */
export interface Command {
  name: string
  options: Options
  /** File for the figures of all rounds. */
  json: string | undefined
}

/** Each of ten workspaces has a hundred. */
const leastStored = 1_000

/** @throws Error that names the invalid argument */
export function readCommand(args: string[], benchmarks: Record<string, Benchmark>): Command | 'help' {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      only: { type: 'string', default: '' },
      json: { type: 'string' },
      profile: { type: 'string' },
      stored: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return 'help'
  const [name = 'events', ...others] = positionals
  const benchmark = Object.hasOwn(benchmarks, name) ? benchmarks[name] : undefined
  if (benchmark === undefined || others.length > 0)
    throw new Error(`${positionals.join(' ')} is none of ${Object.keys(benchmarks).join(', ')}`)
  const seconds = Number(values.seconds ?? benchmark.seconds)
  const rounds = Number(values.rounds ?? benchmark.rounds)
  if (!(seconds > 0)) throw new Error(`--seconds ${values.seconds} is not a number above 0`)
  if (!(Number.isInteger(rounds) && rounds > 0))
    throw new Error(`--rounds ${values.rounds} is not a whole number above 0`)
  const stored = readStored(name, benchmark, values.stored)
  const profile = values.profile === undefined ? undefined : resolve(values.profile)
  return {
    name,
    json: values.json,
    options: { seconds, rounds, only: values.only, profile, stored },
  }
}

function readStored(name: string, benchmark: Benchmark, given: string | undefined): number {
  if (benchmark.stored === undefined) {
    if (given !== undefined) throw new Error(`${name} stores no history: it takes no --stored`)
    return 0
  }
  const stored = Number(given ?? benchmark.stored)
  if (!(Number.isInteger(stored) && stored >= leastStored))
    throw new Error(`--stored ${given} is not a whole number from ${leastStored} on`)
  return stored
}

/** The command that repeats a benchmark, even if its defaults change. */
export function formatCommand({ name, options: { seconds, rounds, only, stored } }: Command): string {
  return [
    `npm run bench -- ${name} --seconds ${seconds} --rounds ${rounds}`,
    ...(only === '' ? [] : [`--only "${only}"`]),
    ...(stored === 0 ? [] : [`--stored ${stored}`]),
  ].join(' ')
}

export function describeUsage(benchmarks: Record<string, Benchmark>): string {
  const lines = Object.entries(benchmarks).map(
    ([name, { about, seconds, rounds }]) => `  ${name.padEnd(11)}${about} (${rounds} × ${seconds} s)`,
  )
  return `npm run bench -- [${Object.keys(benchmarks).join('|')}] [options]

${lines.join('\n')}

  --seconds N    of each measurement, without its warm-up
  --rounds N     of all measurements; five are needed to decide an aim
  --only TEXT    measures what has TEXT in its label, as in "async" or "10 matching rules @128"
  --json FILE    writes the figures of all rounds
  --profile DIR  writes a CPU profile of each API, worker and yardstick for each measurement, and the statements of Postgres;
                 CPU figures are higher then
  --stored N     events of the history that is stored, each with an execution and a task; a minute or more for each million`
}
