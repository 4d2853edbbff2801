import { readFile, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { CannotStart } from '@automation/launcher'
import { formatAims } from './aims.js'
import type { Plan, Report } from './benchmark.js'
import { planBrake } from './brake/benchmark.js'
import { planCheck } from './check/benchmark.js'
import { planCompare } from './compare/benchmark.js'
import { planEngine } from './engine/benchmark.js'
import { planEvents } from './events/benchmark.js'
import { planFairness } from './fairness/benchmark.js'
import { planGrowth } from './growth/benchmark.js'
import { planIngest } from './ingest/benchmark.js'
import { planNeighbours } from './neighbours/benchmark.js'
import { type BenchmarkName, type Options, readOptions, usage } from './options.js'
import type { Performance } from './performance/performance.js'
import { writePerformance } from './performance/write-performance.js'
import { runOnProduct } from './private-product.js'
import { planRetention } from './retention/benchmark.js'
import { planScale } from './scale/benchmark.js'

const plans: Record<BenchmarkName, (options: Options) => Plan> = {
  events: planEvents,
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
}
/** The benchmarks of docs/performance.md, which take a quarter of an hour. */
const shown: { name: BenchmarkName; own?: (options: Options) => Partial<Options> }[] = [
  { name: 'engine', own: ({ seconds }) => ({ seconds: seconds / 10 }) },
  { name: 'events' },
  { name: 'ingest', own: ({ seconds }) => ({ only: '@64', seconds: seconds / 2 }) },
  { name: 'growth', own: ({ seconds }) => ({ seconds: seconds / 2 }) },
  { name: 'scale', own: ({ seconds, rounds }) => ({ seconds: seconds / 2, rounds: Math.min(3, rounds) }) },
]

const { options, planned } = readPlansOrExit()
const code = await run().catch((error: Error) => {
  console.error(error instanceof CannotStart ? error.message : error)
  return 1
})
// The migration's pool would keep the process alive for another ten seconds.
process.exit(code)

async function run(): Promise<number> {
  if (options.benchmark === 'render') {
    await writePerformance(options, JSON.parse(await readFile(options.json ?? '', 'utf8')) as Performance)
    return 0
  }
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}`
  const { seconds, rounds } = options
  const performance: Performance = {
    node: process.version,
    machine,
    at: new Date().toISOString(),
    seconds,
    rounds,
    benchmarks: {},
  }
  for (const { name, plan, own } of planned) {
    const { results, aims = [], text } = await runPlan(plan, own)
    performance.benchmarks[name] = { results, aims }
    console.log(`\n${name}: Node ${process.version}, ${machine}; API to "all": CPU in µs an event\n`)
    console.log(`${text}\n\n${formatAims(aims)}`.trimEnd())
    // Written after each one, so that a failure of the last one does not lose an hour of results.
    if (options.json) await writeFile(options.json, `${JSON.stringify(performance, null, 2)}\n`)
  }
  await writePerformance(options, performance)
  return 0
}

async function runPlan(plan: Plan, own: Options): Promise<Report> {
  return plan.workers === null ? plan.run() : runOnProduct(own, { workers: plan.workers }, plan.run)
}

function readPlansOrExit() {
  try {
    const options = readOptions(process.argv.slice(2))
    const { benchmark } = options
    const chosen = benchmark === 'all' ? shown : benchmark === 'render' ? [] : [{ name: benchmark }]
    const planned = chosen.map(({ name, own: change }: (typeof shown)[number]) => {
      const own = { ...options, ...change?.(options) }
      return { name, own, plan: plans[name](own) }
    })
    return { options, planned }
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
    process.exit(2)
  }
}
