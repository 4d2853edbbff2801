import { writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { openDatabase } from '@automation/database'
import { makeTemporaryDirectory, type Product, startProduct } from '@automation/launcher'
import type { Part } from './cpu-time.js'
import { type Figures, measure } from './measure.js'
import { type Options, readOptions, usage } from './options.js'
import { formatTable, type Result, summarize } from './report.js'
import { type Scenario, scenarios } from './scenarios.js'
import { createWorkspace } from './workspace.js'

const options = readOptionsOrExit()
const directory = await makeTemporaryDirectory()
const product = await startProduct({ directory: directory.path, durable: true, env: environment(options) })
try {
  const results = await runBenchmark(product, options)
  console.log(
    `\nNode ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}; CPU in µs an event\n`,
  )
  console.log(formatTable(results))
  if (options.json) await writeFile(options.json, `${JSON.stringify(results, null, 2)}\n`)
} finally {
  await product.stop()
  await directory.remove()
}
// The migration's pool would keep the process for another ten seconds.
process.exit()

function environment({ profile }: Options): Record<string, string> {
  const unlimited = '1000000000/1000000000'
  return {
    LOG_LEVEL: 'warn',
    RATE_LIMIT_ANONYMOUS: unlimited,
    RATE_LIMIT_AUTHENTICATED: unlimited,
    RATE_LIMIT_ENTERPRISE: unlimited,
    ...(profile === undefined
      ? {}
      : {
          NODE_OPTIONS: `--import=${new URL('./profile-process.js', import.meta.url)}`,
          PROFILE_DIR: profile,
        }),
  }
}

/** Round robin: what else the machine does meanwhile then falls on all of them alike. */
async function runBenchmark(product: Product, { only, rounds, seconds }: Options): Promise<Result[]> {
  const database = openDatabase(product.databaseUrl, 1)
  const pids = pidsOf(product)
  try {
    const planned = await planMeasurements(only, async ({ name, rules }) =>
      createWorkspace({
        database,
        baseUrl: product.apis[0]?.baseUrl ?? '',
        jwtSecret: product.jwtSecret,
        name,
        rules,
      }),
    )
    for (let round = 1; round <= rounds; round++) {
      for (const { label, scenario, connections, workspace, figures } of planned) {
        const { isAsync } = scenario
        const result = await measure({ database, pids, workspace, connections, seconds, isAsync })
        figures.push(result)
        console.error(`round ${round}/${rounds}  ${label}  ${Math.round(result.eventsPerSecond)} events/s`)
      }
    }
    return planned.map(({ scenario, connections, figures }) => summarize(scenario.name, connections, figures))
  } finally {
    await database.close()
  }
}

/** One workspace for each scenario of which anything is to be measured. */
async function planMeasurements<Workspace>(
  only: string,
  prepare: (scenario: Scenario) => Promise<Workspace>,
) {
  const planned = []
  for (const scenario of scenarios) {
    const wanted = scenario.connections
      .map((connections) => ({ connections, label: `${scenario.name} @${connections}` }))
      .filter(({ label }) => label.includes(only))
    if (wanted.length === 0) continue
    const workspace = await prepare(scenario)
    for (const one of wanted) planned.push({ ...one, scenario, workspace, figures: [] as Figures[] })
  }
  return planned
}

function pidsOf({ apis, workers, redis, postgres }: Product): Record<Part, number> {
  const [api] = apis
  const [worker] = workers
  if (!api || !worker || !redis || !postgres) throw new Error('The product has not started all of its parts')
  return { api: api.pid, worker: worker.pid, redis: redis.pid, postgres: postgres.pid }
}

function readOptionsOrExit(): Options {
  try {
    return readOptions(process.argv.slice(2))
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
    process.exit(2)
  }
}
