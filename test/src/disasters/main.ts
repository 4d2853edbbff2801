import { randomInt } from 'node:crypto'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { CannotStart, makeTemporaryDirectory } from '@automation/launcher'
import type { Disaster } from './disaster.js'
import { disasters } from './disasters.js'
import { enterOwnNetwork, runInOwnNetwork } from './own-network.js'
import { findPrograms, MissingProgram } from './servers/programs.js'

const toldAtMost = 20
const defaults = { events: 3_000, seconds: 60 }
/** What hangs is to end, too, beside the time (s) for which something stays broken. */
const longestSeconds = 540

const usage = `npm run disasters -- NAME [--seed N] [--events N] [--seconds N] [--verbose] [--logs DIR]

${disasters.map(({ name, about }) => `  ${name.padEnd(18)} ${about}`).join('\n')}

  --seed     the same load; any other one if it is not named
  --events   how many events are acknowledged before, during and after it, ${defaults.events} by default
  --seconds  how long what is broken stays so, ${defaults.seconds} by default; a disaster that ends by itself ignores it
  --verbose  prints each step
  --logs     keeps there what all the processes have said

It starts its own servers, and ends no others. 0: nothing was violated. 1: something was. 2: a program or an option is missing.`

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const code = await main(process.argv.slice(2)).catch((error: Error) => {
  const isExpected = error instanceof CannotStart || error instanceof MissingProgram
  console.error(isExpected ? error.message : error)
  return error instanceof MissingProgram ? 2 : 1
})
process.exit(code)

async function main(args: string[]): Promise<number> {
  const { values, disaster } = readOptions(args)
  if (disaster === undefined) {
    console.log(usage)
    return values.help ? 0 : 2
  }
  const programs = await findPrograms(disaster.needs)
  if (disaster.hasOwnNetwork && !values.inside) return runInOwnNetwork(programs, process.argv.slice(1))
  if (values.inside) await enterOwnNetwork(programs)
  const directory = await makeTemporaryDirectory()
  const startedAt = performance.now()
  setTimeout(giveUp, (longestSeconds + Number(values.seconds)) * 1_000).unref()
  const passed = () => `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`
  const seed = Number(values.seed)
  console.log(`${disaster.name}, seed ${seed}: ${disaster.about}`)
  try {
    const { figures, violations } = await disaster.run({
      ...{ seed, programs, directory: directory.path },
      events: Number(values.events),
      seconds: Number(values.seconds),
      logs: values.logs === undefined ? undefined : resolve(values.logs),
      tell: values.verbose ? (line) => console.log(`${passed()}: ${line}`) : () => {},
    })
    for (const violation of violations.slice(0, toldAtMost)) console.log(`VIOLATION ${violation}`)
    console.log(writeTable({ ...figures, violations: violations.length, 'in all': passed() }))
    return violations.length === 0 ? 0 : 1
  } finally {
    await directory.remove()
  }
}

function giveUp(): never {
  console.error(`It does not end: given up after ${longestSeconds} s and the time of --seconds`)
  process.exit(1)
}

function readOptions(args: string[]) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', default: false },
      seed: { type: 'string', default: String(randomInt(1, 1_000_000)) },
      events: { type: 'string', default: String(defaults.events) },
      seconds: { type: 'string', default: String(defaults.seconds) },
      verbose: { type: 'boolean', default: false },
      logs: { type: 'string' },
      // Of this program itself: it has entered a network of its own.
      inside: { type: 'boolean', default: false },
    },
  })
  const disaster: Disaster | undefined = disasters.find(({ name }) => name === positionals[0])
  return { values, disaster: values.help ? undefined : disaster }
}

function writeTable(figures: Record<string, string | number>): string {
  const width = Math.max(...Object.keys(figures).map(({ length }) => length))
  return Object.entries(figures)
    .map(([name, value]) => `  ${name.padEnd(width)}  ${value}`)
    .join('\n')
}
