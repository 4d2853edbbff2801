import { CannotStart, makeTemporaryDirectory, type Product } from '@automation/launcher'
import { listAims, type WantedAim } from '../aims.js'
import { drainBacklog } from '../backlog.js'
import { type Benchmark, choose } from '../benchmark.js'
import { clearTables } from '../clear-traces.js'
import { type Pids, pidsOf } from '../cpu-time.js'
import type { LoadOrder } from '../load/load.js'
import { measure } from '../measure.js'
import { runOnProduct, type Stage } from '../product.js'
import { measureRounds } from '../rounds.js'
import { createWorkspace, type Rule } from '../workspace.js'
import { type Command, findN8n } from './find-n8n.js'
import { webhookPath } from './n8n-workflow.js'
import { type N8n, type N8nSetup, startN8n } from './start-n8n.js'

const legacy = { N8N_EXPRESSION_ENGINE: 'legacy', DB_POSTGRESDB_POOL_SIZE: '20' }
const workerArgs = ['--concurrency=20']
const setups: (N8nSetup & { atLeast: number })[] = [
  {
    ...{ label: 'n8n, as well as we could', env: legacy, workers: 1, workerArgs, hasWebhookProcess: true },
    atLeast: 25,
  },
  { label: 'n8n, two workers', env: legacy, workers: 2, workerArgs, hasWebhookProcess: false, atLeast: 25 },
  {
    ...{
      label: 'n8n, queue mode, else defaults',
      env: {},
      workers: 1,
      workerArgs: [],
      hasWebhookProcess: false,
    },
    atLeast: 150,
  },
]
const sides = ['product', ...setups.map(({ label }) => label)].map((label) => ({ label }))
const connections = 64

const wanted: WantedAim[] = setups.map(({ label, atLeast }) => ({
  title: `background: events/s of ${label}`,
  of: ['product', 'done/s'],
  dividedBy: [label, 'done/s'],
  atLeast,
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

/** The same background work, compared with n8n. The response comes on acceptance; work counts when it is stored as done. */
export const compare: Benchmark = {
  about: 'next to n8n in queue mode, which is on the PATH or installed by npm in the directory N8N_DIR',
  seconds: 5,
  rounds: 6,
  async run(options) {
    const chosen = choose(sides, options.only)
    const command = findN8n(process.env)
    if (command === undefined)
      throw new CannotStart('n8n is neither on the PATH nor in N8N_DIR: there is nothing to compare with')
    return runOnProduct(options, { workers: 1 }, (stage) => {
      const used = setups.filter(({ label }) => chosen.some((side) => side.label === label))
      return withN8ns(command, used, stage.product, async (n8ns) => {
        const found = new Map([...n8ns].map(([label, n8n]) => [label, sideOf(n8n, stage.product)]))
        found.set('product', await ourSide(stage))
        const table = await measureRounds(chosen, options.rounds, async ({ label }) => {
          const { clear, drain, ...side } = found.get(label) as Side
          await clear()
          return measure(stage, { ...side, label, done: drain, seconds: options.seconds })
        })
        return { tables: [table], aims: listAims(table.lines, wanted) }
      })
    })
  },
}

interface Side {
  pids: Pids
  order: Omit<LoadOrder, 'seconds' | 'ratePerSecond'>
  drain(): Promise<void>
  /** Empties the tables, so that each round begins in the same state. */
  clear(): Promise<void>
}

async function ourSide({ product, database, postgres }: Stage): Promise<Side> {
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
      ...{ expectedStatus: 202, connections },
    },
    pids: pidsOf(product, product.apis, product.workers),
    drain: () => drainBacklog(database),
    clear: () => clearTables(postgres),
  }
}

/** Uses Postgres and Redis of the product, which is idle meanwhile. */
function sideOf({ baseUrl, pids, drain, clear }: N8n, product: Product): Side {
  const { API: _, ...servers } = pidsOf(product, product.apis, [])
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
      ...{ expectedStatus: 200, connections },
    },
    pids: { ...pids, ...servers },
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
      return await withN8ns(command, others, product, (rest) => run(new Map([[setup.label, n8n], ...rest])))
    } finally {
      await n8n.stop()
    }
  } finally {
    await directory.remove()
  }
}
