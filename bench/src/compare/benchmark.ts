import { openDatabase } from '@automation/database'
import { makeTemporaryDirectory, type Product } from '@automation/launcher'
import { type Aim, medianRatio } from '../aims.js'
import { drainBacklog } from '../backlog.js'
import { type Plan, type Report, runRounds } from '../benchmark.js'
import { pidsOf } from '../cpu-time.js'
import { type Measuring, measure } from '../measure.js'
import { chooseMeasurements, type Scenario } from '../measurements.js'
import type { Options } from '../options.js'
import { runOnProduct } from '../private-product.js'
import { formatTable, type Result } from '../report.js'
import { createWorkspace, type Rule } from '../workspace.js'
import { type Command, findN8n } from './find-n8n.js'
import { webhookPath } from './n8n-workflow.js'
import { type N8n, type N8nSetup, startN8n } from './start-n8n.js'

const setups: N8nSetup[] = [
  {
    name: 'n8n, as well as we could',
    env: { N8N_EXPRESSION_ENGINE: 'legacy', DB_POSTGRESDB_POOL_SIZE: '20' },
    workerArgs: ['--concurrency=20'],
    hasWebhookProcess: true,
  },
  { name: 'n8n, defaults', env: {}, workerArgs: [], hasWebhookProcess: false },
]
const wanted = [25, 150]

const scenarios: Scenario[] = ['product', ...setups.map(({ name }) => name)].map((name) => ({
  name,
  connections: [64],
}))

const lead = { name: 'Ada Lovelace', email: 'ada@example.com', score: 95, status: 'new' }
const rule: Rule = {
  name: 'Hot leads',
  trigger: 'LEAD_CREATED',
  conditions: [
    { field: 'score', operator: 'greater_than', value: 80 },
    { field: 'status', operator: 'equals', value: 'new' },
  ],
  actions: [{ type: 'CREATE_TASK', config: { title: 'Call {{name}}' } }],
}

/** The same background work, compared with n8n if that is installed. The response comes on acceptance; work counts when it is stored as done. */
export function planCompare(options: Options): Plan {
  const measurements = chooseMeasurements(scenarios, options.only)
  return {
    workers: null,
    async run() {
      const command = findN8n(process.env)
      if (command === undefined)
        return { results: [], text: 'n8n is neither on the PATH nor in N8N_DIR: nothing to compare with' }
      return runOnProduct(options, { workers: 1 }, async (product): Promise<Report> => {
        const used = setups.filter(({ name }) => measurements.some(({ scenario }) => scenario.name === name))
        const results = await withN8ns(command, used, product, async (n8ns) => {
          const sides = new Map([...n8ns].map(([name, n8n]) => [name, sideOf(n8n, product)]))
          sides.set('product', await ourSide(product))
          return runRounds(measurements, options.rounds, ({ scenario, connections }) => {
            const { order, ...side } = sides.get(scenario.name) as Side
            return measure({ ...side, order: { ...order, connections }, seconds: options.seconds })
          })
        })
        return { results, aims: listAims(results), text: formatTable(results) }
      })
    },
  }
}

interface Side extends Pick<Measuring, 'pids'> {
  order: Omit<Measuring['order'], 'connections'>
  drain(): Promise<void>
}

async function ourSide(product: Product): Promise<Side> {
  const database = openDatabase(product.databaseUrl, 1)
  const { baseUrl, headers } = await createWorkspace(database, product, { name: 'Leads', rules: [rule] })
  return {
    order: {
      origins: [baseUrl],
      path: `/api/automation-rules/trigger/${rule.trigger}`,
      headers: { ...headers, prefer: 'respond-async' },
      payload: JSON.stringify({ data: lead }),
      expectedStatus: 202,
    },
    pids: pidsOf(product, product.apis, product.workers),
    drain: () => drainBacklog(database),
  }
}

/** Uses Postgres and Redis of the product, which is idle meanwhile. */
function sideOf({ baseUrl, pids, drain }: N8n, product: Product): Side {
  const { redis = [], postgres = [] } = pidsOf(product, product.apis, [])
  return {
    order: {
      origins: [baseUrl],
      path: `/${webhookPath}`,
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(lead),
      expectedStatus: 200,
    },
    pids: { ...pids, redis, postgres },
    drain,
  }
}

/** Nested, so that all of them are stopped in every case. */
async function withN8ns<Outcome>(
  command: Command,
  [setup, ...others]: N8nSetup[],
  product: Product,
  run: (n8ns: Map<string, N8n>) => Promise<Outcome>,
): Promise<Outcome> {
  if (setup === undefined) return run(new Map())
  const directory = await makeTemporaryDirectory()
  try {
    const n8n = await startN8n(command, setup, product, directory.path)
    try {
      return await withN8ns(command, others, product, (rest) => run(new Map([[setup.name, n8n], ...rest])))
    } finally {
      await n8n.stop()
    }
  } finally {
    await directory.remove()
  }
}

function listAims(results: Result[]): Aim[] {
  const done = ({ rounds }: Result) => rounds.map(({ donePerSecond }) => donePerSecond ?? Number.NaN)
  const ours = results.find(({ scenario }) => scenario === 'product')
  return setups.flatMap(({ name }, index) => {
    const theirs = results.find(({ scenario }) => scenario === name)
    if (ours === undefined || theirs === undefined) return []
    const reached = medianRatio(done(ours), done(theirs))
    return [{ title: `background: events/s of ${name}`, reached, atLeast: wanted[index] ?? 0, digits: 0 }]
  })
}
