import { writeFile } from 'node:fs/promises'
import { CannotStart } from '@automation/launcher'
import { formatAims } from './aims.js'
import { backtest } from './backtest/benchmark.js'
import type { Benchmark } from './benchmark.js'
import { compare } from './compare/benchmark.js'
import { engine } from './engine/benchmark.js'
import { events } from './events.js'
import { fairness } from './fairness/benchmark.js'
import { growth } from './growth.js'
import { history } from './history/benchmark.js'
import { ingest } from './ingest/benchmark.js'
import { layoutsOfEvents } from './layouts/benchmark.js'
import { describeMachine, observeMachine } from './machine/machine.js'
import { neighbours } from './neighbours/benchmark.js'
import { dueTogether } from './neighbours/due-together.js'
import { halfForms } from './neighbours/half-forms.js'
import { type Command, describeUsage, formatCommand, readCommand } from './options.js'
import { scale } from './scale.js'
import { schedules } from './schedules.js'
import { sustained } from './sustained/benchmark.js'
import { formatTable } from './table.js'

const benchmarks: Record<string, Benchmark> = {
  events,
  sustained,
  ingest,
  neighbours,
  'due-together': dueTogether,
  'half-forms': halfForms,
  fairness,
  growth,
  history,
  layouts: layoutsOfEvents,
  scale,
  schedules,
  backtest,
  engine,
  compare,
}

const command = readCommandOrExit()
try {
  await run(command)
} catch (error) {
  console.error(error instanceof CannotStart ? error.message : error)
  console.error(`The benchmark "${command.name}" has failed: it has no figures.`)
  process.exit(1)
}
// The migration's pool would keep the process alive for another ten seconds.
process.exit(0)

async function run({ name, options, json }: Command): Promise<void> {
  const endObservation = await observeMachine()
  const { tables, aims = [] } = await (benchmarks[name] as Benchmark).run(options)
  const machine = endObservation()
  const repeat = formatCommand(command)
  console.log(`\n${repeat}\n${describeMachine(machine)}\nAPI to all: µs of CPU an event\n`)
  for (const { lines } of tables) console.log(`${formatTable(lines)}\n`)
  if (aims.length > 0) console.log(formatAims(aims))
  if (json === undefined) return
  const content = { command: repeat, ...machine, tables: tables.map(({ lines }) => lines), aims }
  await writeFile(json, `${JSON.stringify(content, null, 2)}\n`)
}

function readCommandOrExit(): Command {
  try {
    const read = readCommand(process.argv.slice(2), benchmarks)
    if (read !== 'help') return read
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${describeUsage(benchmarks)}`)
    process.exit(2)
  }
  console.log(describeUsage(benchmarks))
  process.exit(0)
}
