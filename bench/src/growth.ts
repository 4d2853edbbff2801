import { createPrivateDatabase, type Product } from '@automation/launcher'
import { listAims, type WantedAim } from './aims.js'
import { drainBacklog } from './backlog.js'
import { type Benchmark, choose, type Options } from './benchmark.js'
import { clearTraces } from './clear-traces.js'
import { pidsOf } from './cpu-time.js'
import { readMebibytes } from './machine/memory.js'
import { measure, measureBacklog } from './measure.js'
import { runOnProduct, type Stage } from './product.js'
import { measureRounds } from './rounds.js'
import { insertHistory } from './stored/insert-history.js'
import { growthData, insertRules, types } from './stored/insert-rules.js'
import { type Figures, Table } from './table.js'
import { eventData, oneOfTenMatches, triggerPath } from './usual-case.js'
import { createWorkspace, type Workspace } from './workspace.js'

const ruleCounts = [10, 1_000, 100_000]
const reads = [
  { name: 'trigger', path: undefined, connections: 32 },
  { name: 'list of executions', path: '/api/executions?limit=50', connections: 4 },
  { name: 'health', path: '/api/automation-rules/health', connections: 4 },
  { name: 'attention', path: '/api/automation-rules/attention', connections: 4 },
]

/** More and more rules, of which always one matches; or a longer history. */
interface Scenario {
  label: string
  grows: 'rules' | 'history'
  size: number
  /** What is read; undefined for a posted event. */
  path: string | undefined
  connections: number
}

function listScenarios(isLarge: boolean): Scenario[] {
  const histories = isLarge ? [0, 1_000_000, 10_000_000] : [0, 1_000_000]
  return [
    ...ruleCounts.map((size) => ({
      ...{ label: `events, ${tell(size)} rules @128`, grows: 'rules' as const, size },
      ...{ path: undefined, connections: 128 },
    })),
    ...reads.flatMap(({ name, path, connections }) =>
      histories.map((size) => ({
        label: `${name}, history of ${tell(size)} @${connections}`,
        ...{ grows: 'history' as const, size, path, connections },
      })),
    ),
  ]
}

/** How throughput changes with the number of rules and the length of the history. */
export const growth: Benchmark = {
  about: 'with up to 100,000 rules in a workspace, and a history of a million executions (--large: ten)',
  seconds: 4,
  rounds: 6,
  async run(options) {
    const chosen = choose(listScenarios(options.isLarge), options.only)
    const [ofRules, ofHistory] = (['rules', 'history'] as const).map((grows) =>
      chosen.filter((scenario) => scenario.grows === grows),
    ) as [Scenario[], Scenario[]]
    return runOnProduct(options, { workers: 0 }, async (stage) => {
      const tables: Table[] = []
      if (ofRules.length > 0) tables.push(...(await measureRules(stage, ofRules, options)))
      if (ofHistory.length > 0) tables.push(await measureHistories(stage.product, ofHistory, options))
      const lines = tables.flatMap((table) => table.lines)
      return { tables, aims: listAims(lines, [...aimsOfRules(ofRules), ...aimsOfHistory(ofHistory)]) }
    })
  },
}

/** @returns the measurements, and what it costs a new worker to read the rules */
async function measureRules(stage: Stage, scenarios: Scenario[], options: Options): Promise<Table[]> {
  const { database, postgres, product } = stage
  const workspaces = new Map<Scenario, Workspace>()
  const readings = new Table()
  for (const scenario of scenarios) {
    const workspace = await createWorkspace(database, product, { name: scenario.label, rules: [] })
    await insertRules(postgres, workspace.id, scenario.size)
    workspaces.set(scenario, workspace)
  }
  const table = await measureRounds(scenarios, options.rounds, async (scenario) => {
    const workspace = workspaces.get(scenario) as Workspace
    await clearTraces(stage)
    const worker = await product.startWorker()
    try {
      const before = await readMebibytes(worker.pid)
      const startedAt = performance.now()
      await postEachType(workspace)
      await drainBacklog(database)
      readings.add(`a new worker reads ${tell(scenario.size)} rules`, {
        ms: performance.now() - startedAt,
        MiB: (await readMebibytes(worker.pid)) - before,
      })
      const headers = { ...workspace.headers, prefer: 'respond-async' }
      return await measureBacklog(stage, {
        label: scenario.label,
        order: {
          origins: [workspace.baseUrl],
          requests: [{ path: triggerPath, headers, payload: JSON.stringify({ data: growthData }) }],
          ...{ expectedStatus: 202, connections: scenario.connections },
        },
        pids: pidsOf(product, product.apis.slice(0, 1), [worker]),
        ...{ seconds: options.seconds, workers: [worker] },
      })
    } finally {
      await worker.stop()
    }
  })
  return [table, readings]
}

/** Makes the worker read all rules of the workspace, which it caches by type. */
async function postEachType({ baseUrl, headers }: Workspace): Promise<void> {
  const body = JSON.stringify({ data: { segment: 'none' } })
  for (const type of types) {
    const response = await fetch(`${baseUrl}/api/automation-rules/trigger/${type}`, {
      ...{ method: 'POST', headers: { ...headers, prefer: 'respond-async' }, body },
    })
    if (response.status !== 202) throw new Error(`Got ${response.status}: ${await response.text()}`)
    await response.arrayBuffer()
  }
}

interface Past {
  stage: Stage
  workspace: Workspace
}

/** The same requests, in turn to products with histories of different lengths. */
function measureHistories(servers: Product, scenarios: Scenario[], options: Options): Promise<Table> {
  const sizes = [...new Set(scenarios.map(({ size }) => size))]
  return openPasts(servers, sizes, options, (pasts) =>
    measureRounds(scenarios, options.rounds, (scenario) =>
      measureHistory(servers, pasts.get(scenario.size) as Past, scenario, options.seconds),
    ),
  )
}

/** Each history has its own database and product on the same servers. Nested, so that all of them are stopped in every case. */
async function openPasts<Result>(
  servers: Product,
  [size, ...others]: number[],
  options: Options,
  run: (pasts: Map<number, Past>) => Promise<Result>,
): Promise<Result> {
  if (size === undefined) return run(new Map())
  const databaseUrl = await createPrivateDatabase(servers.databaseUrl)
  const env = { QUEUE_PREFIX: `{history-${size}}` }
  return runOnProduct(options, { databaseUrl, redisUrl: servers.redisUrl, env }, async (stage) => {
    const name = `History of ${tell(size)}`
    const workspace = await createWorkspace(stage.database, stage.product, { name, rules: oneOfTenMatches })
    await insertHistory(stage.postgres, workspace.id, size)
    return openPasts(servers, others, options, (pasts) =>
      run(new Map([[size, { stage, workspace }], ...pasts])),
    )
  })
}

async function measureHistory(
  servers: Product,
  { stage, workspace }: Past,
  { label, path, size, connections }: Scenario,
  seconds: number,
): Promise<Figures> {
  const { product } = stage
  const { headers, baseUrl } = workspace
  const common = { origins: [baseUrl], expectedStatus: 200, connections }
  if (path !== undefined) {
    const order = { ...common, requests: [{ path, headers }] }
    return measure(stage, { label, order, pids: pidsOf(servers, product.apis, []), seconds })
  }
  // The measurement must not create a history in the product without one.
  if (size === 0) await clearTraces(stage)
  const requests = [{ path: triggerPath, headers, payload: JSON.stringify({ data: eventData }) }]
  const pids = pidsOf(servers, product.apis, product.workers)
  return measure(stage, { label, order: { ...common, requests }, pids, seconds, done: 'with responses' })
}

function aimsOfRules([first, ...others]: Scenario[]): WantedAim[] {
  return others.map(({ label }) => ({
    title: `${label}: done/s of ${first?.label}`,
    of: [label, 'done/s'],
    dividedBy: [first?.label ?? '', 'done/s'],
    atLeast: 0.8,
  }))
}

/** The rate with a history, divided by that without one. */
function aimsOfHistory(scenarios: Scenario[]): WantedAim[] {
  return scenarios.flatMap(({ label, path, size }) => {
    const without = scenarios.find((other) => other.path === path && other.size === 0)
    if (without === undefined || size === 0) return []
    const dividedBy: [string, string] = [without.label, 'accepted/s']
    return [{ title: `${label}: rate of none`, of: [label, 'accepted/s'], dividedBy, atLeast: 1 / 1.3 }]
  })
}

function tell(count: number): string {
  return count.toLocaleString('en-US')
}
