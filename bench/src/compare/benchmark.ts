import { makeTemporaryDirectory, type Product } from '@automation/launcher'
import { type Aim, createAim, ratiosOf } from '../aims.js'
import { drainBacklog } from '../backlog.js'
import { type Plan, type Report, runRounds } from '../benchmark.js'
import { clearTables } from '../clear-traces.js'
import { type Connections, withConnections } from '../connections.js'
import { pidsOf } from '../cpu-time.js'
import { type Measuring, measure } from '../measure.js'
import { chooseMeasurements, type Scenario } from '../measurements.js'
import type { Options } from '../options.js'
import { runOnProduct } from '../private-product.js'
import { formatTable, type Result } from '../report.js'
import { createWorkspace, type Rule } from '../workspace.js'
import { type Command, findN8n } from './find-n8n.js'
import { n8nAtItsBest, webhookPath } from './n8n-workflow.js'
import { type N8n, type N8nSetup, startN8n } from './start-n8n.js'

const setups: N8nSetup[] = [
  {
    name: n8nAtItsBest,
    env: { N8N_EXPRESSION_ENGINE: 'legacy', DB_POSTGRESDB_POOL_SIZE: '20' },
    workers: 1,
    workerArgs: ['--concurrency=20'],
    hasWebhookProcess: true,
  },
  {
    name: 'n8n, two workers',
    env: { N8N_EXPRESSION_ENGINE: 'legacy', DB_POSTGRESDB_POOL_SIZE: '20' },
    workers: 2,
    workerArgs: ['--concurrency=20'],
    hasWebhookProcess: false,
  },
  { name: 'n8n, queue mode, else defaults', env: {}, workers: 1, workerArgs: [], hasWebhookProcess: false },
]
const wanted = [25, 25, 150]

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
        throw new Error('n8n is neither on the PATH nor in N8N_DIR: there is nothing to compare with')
      return runOnProduct(options, { workers: 1 }, (product) =>
        withConnections(product, async (connections): Promise<Report> => {
          const used = setups.filter(({ name }) =>
            measurements.some(({ scenario }) => scenario.name === name),
          )
          const results = await withN8ns(command, used, product, async (n8ns) => {
            const sides = new Map([...n8ns].map(([name, n8n]) => [name, sideOf(n8n, product)]))
            sides.set('product', await ourSide(product, connections))
            return runRounds(measurements, options.rounds, async ({ scenario, connections }) => {
              const { order, clear, ...side } = sides.get(scenario.name) as Side
              await clear()
              return measure({ ...side, order: { ...order, connections }, seconds: options.seconds })
            })
          })
          return { results, aims: listAims(results), text: formatTable(results) }
        }),
      )
    },
  }
}

interface Side extends Pick<Measuring, 'pids'> {
  order: Omit<Measuring['order'], 'connections'>
  drain(): Promise<void>
  /** Empties the tables, so that each round begins in the same state. */
  clear(): Promise<void>
}

async function ourSide(product: Product, { database }: Connections): Promise<Side> {
  const { baseUrl, headers } = await createWorkspace(database, product, { name: 'Leads', rules: [rule] })
  return {
    order: {
      origins: [baseUrl],
      requests: [
        {
          path: `/api/automation-rules/trigger/${rule.trigger}`,
          headers: { ...headers, prefer: 'respond-async' },
          payload: JSON.stringify({ data: lead }),
        },
      ],
      expectedStatus: 202,
    },
    pids: pidsOf(product, product.apis, product.workers),
    drain: () => drainBacklog(database),
    clear: () => clearTables(database),
  }
}

/** Uses Postgres and Redis of the product, which is idle meanwhile. */
function sideOf({ baseUrl, pids, drain, clear }: N8n, product: Product): Side {
  const { redis = [], postgres = [] } = pidsOf(product, product.apis, [])
  return {
    order: {
      origins: [baseUrl],
      requests: [
        {
          path: `/${webhookPath}`,
          headers: { 'content-type': 'application/json' },
          payload: JSON.stringify(lead),
        },
      ],
      expectedStatus: 200,
    },
    pids: { ...pids, redis, postgres },
    drain,
    clear,
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
    const rounds = ratiosOf(done(ours), done(theirs))
    const title = `background: events/s of ${name}`
    return [createAim({ title, rounds, atLeast: wanted[index] ?? 0, digits: 0 })]
  })
}
