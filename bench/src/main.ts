import { readFile, writeFile } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { CannotStart } from '@automation/launcher'
import { formatAims } from './aims.js'
import { planBacktest } from './backtest/benchmark.js'
import type { Plan, Report } from './benchmark.js'
import { planBrake } from './brake/benchmark.js'
import { planCheck } from './check/benchmark.js'
import { planCompare } from './compare/benchmark.js'
import { planEngine } from './engine/benchmark.js'
import { planEvents } from './events/benchmark.js'
import { planFairness } from './fairness/benchmark.js'
import { planGrowth } from './growth/benchmark.js'
import { planIngest } from './ingest/benchmark.js'
import { readCommit } from './machine/commit.js'
import { observeMachine } from './machine/noise.js'
import { readStorage } from './machine/storage.js'
import { planNeighbours } from './neighbours/benchmark.js'
import {
  type BenchmarkName,
  type Command,
  formatCommand,
  type Options,
  optionsOf,
  readCommand,
  usage,
} from './options.js'
import { describeRun } from './performance/describe-run.js'
import type { Performance, Run } from './performance/performance.js'
import { writePerformance } from './performance/write-performance.js'
import { runOnProduct } from './private-product.js'
import { planRetention } from './retention/benchmark.js'
import { planScale } from './scale/benchmark.js'
import { planStart } from './start/benchmark.js'
import { planSustained } from './sustained/benchmark.js'
import { planWhy } from './why/benchmark.js'

const plans: Record<BenchmarkName, (options: Options) => Plan> = {
  events: planEvents,
  sustained: planSustained,
  ingest: planIngest,
  fairness: planFairness,
  neighbours: planNeighbours,
  engine: planEngine,
  growth: planGrowth,
  scale: planScale,
  retention: planRetention,
  brake: planBrake,
  compare: planCompare,
  check: planCheck,
  backtest: planBacktest,
  why: planWhy,
  start: planStart,
}
const all: BenchmarkName[] = ['engine', 'events', 'ingest', 'growth', 'scale', 'sustained']

interface Planned {
  name: BenchmarkName
  options: Options
  plan: Plan
}

const { command, planned } = readPlansOrExit()
const code = await run()
// The migration's pool would keep the process alive for another ten seconds.
process.exit(code)

async function run(): Promise<number> {
  const performance = await readPerformance(command)
  for (const benchmark of planned) {
    try {
      performance[benchmark.name] = await runBenchmark(benchmark)
    } catch (error) {
      console.error(error instanceof CannotStart ? error.message : error)
      console.error(`The benchmark "${benchmark.name}" has failed: it has no figures.`)
      return 1
    }
    // Written after each one, so that a failure of the last one does not lose an hour of results.
    if (command.json) await writeFile(command.json, `${JSON.stringify(performance, null, 2)}\n`)
  }
  await writePerformance(command, performance)
  return 0
}

async function runBenchmark({ name, options, plan }: Planned): Promise<Run> {
  const about = {
    command: formatCommand(name, options),
    at: new Date().toISOString(),
    ...readCommit(),
    node: process.version,
    machine: `${cpus().length} × ${cpus()[0]?.model.trim()}`,
    storage: await readStorage(tmpdir()),
  }
  const endObservation = observeMachine()
  const {
    results,
    aims = [],
    text,
  }: Report = plan.workers === null
    ? await plan.run()
    : await runOnProduct(options, { workers: plan.workers }, plan.run)
  const { seconds, rounds } = options
  const run = { ...about, noise: endObservation(), seconds, rounds, results, aims, text }
  console.log(`\n${name}: ${describeRun(run)}\nAPI to "all": CPU in µs an event\n`)
  console.log(`${text}\n\n${formatAims(aims)}`.trimEnd())
  return run
}

/** The file `--json`, whose other benchmarks are kept; empty if there is none yet. */
async function readPerformance({ json }: Command): Promise<Performance> {
  if (json === undefined) return {}
  const text = await readFile(json, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && planned.length > 0) return '{}'
    throw error
  })
  return JSON.parse(text) as Performance
}

function readPlansOrExit(): { command: Command; planned: Planned[] } {
  try {
    const command = readCommand(process.argv.slice(2))
    const { benchmark } = command
    const names = benchmark === 'all' ? all : benchmark === 'render' ? [] : [benchmark]
    const planned = names.map((name) => {
      const options = optionsOf(name, command)
      return { name, options, plan: plans[name](options) }
    })
    return { command, planned }
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
    process.exit(2)
  }
}
