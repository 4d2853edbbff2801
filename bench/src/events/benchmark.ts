import type { ApiProcess, Product } from '@automation/launcher'
import { type ProductPlan, runRounds } from '../benchmark.js'
import { clearTraces } from '../clear-traces.js'
import { type Connections, withConnections } from '../connections.js'
import { type PidsPerPart, pidsOf } from '../cpu-time.js'
import type { LoadOrder } from '../load/load.js'
import { type Figures, measure } from '../measure.js'
import { measureBacklog } from '../measure-backlog.js'
import { chooseMeasurements, type Measurement } from '../measurements.js'
import type { Options } from '../options.js'
import { formatTable, type Result } from '../report.js'
import { createWorkspace, type Rule, saveDrafts, type Workspace } from '../workspace.js'
import { startYardsticks } from '../yardsticks/start-yardstick.js'
import { listAims } from './aims.js'
import { type EventScenario, eventData, eventType, scenarios } from './scenarios.js'

/** The shared state of all measurements of one run. */
interface Stage extends Connections {
  product: Product
  servers: Record<EventScenario['server'], ApiProcess>
  /** Scenarios with the same rules share a workspace. */
  workspaces: Map<Rule[], Workspace>
}

/** From a caller's request until the rules have run, compared with servers that do less. */
export function planEvents(options: Options): ProductPlan {
  const measurements = chooseMeasurements(scenarios, options.only)
  return {
    workers: 1,
    async run(product) {
      const results = await withConnections(product, (connections) =>
        runEvents(product, connections, measurements, options),
      )
      return { results, aims: listAims(results), text: formatTable(results) }
    },
  }
}

async function runEvents(
  product: Product,
  connections: Connections,
  measurements: Measurement<EventScenario>[],
  { rounds, seconds }: Options,
): Promise<Result[]> {
  return startYardsticks(product, { inline: {}, bare: {} }, async (yardsticks) => {
    const servers = { product: product.apis[0] as ApiProcess, ...yardsticks }
    const stage = { ...connections, product, servers, workspaces: new Map<Rule[], Workspace>() }
    for (const { scenario } of measurements) {
      const { name, rules, hasDrafts } = scenario
      if (stage.workspaces.has(rules)) continue
      const workspace = await createWorkspace(connections.database, product, { name, rules })
      if (hasDrafts) await saveDrafts(connections.database, workspace)
      stage.workspaces.set(rules, workspace)
    }
    return runRounds(measurements, rounds, (measurement) => measureEvents(stage, measurement, seconds))
  })
}

async function measureEvents(
  { product, database, redis, servers, workspaces }: Stage,
  { scenario, connections }: Measurement<EventScenario>,
  seconds: number,
): Promise<Figures> {
  const { mode, server: name, rules, batch: eventsPerRequest = 1 } = scenario
  const server = servers[name]
  // The CPU time of an idle worker counts, too: it is part of the cost of the product.
  const workers = name === 'product' ? product.workers.slice(0, 1) : []
  const all = pidsOf(product, [server], workers)
  const pids = name === 'product' ? all : withoutRedis(all)
  const order = { ...orderOf(scenario, server, workspaces.get(rules) as Workspace), connections }
  // Each begins with small tables, and without dirty pages that Postgres would write meanwhile.
  const clear = () => clearTraces(database, redis, 'yardstick_events')
  await clear()
  const options = { order, pids, seconds, eventsPerRequest }
  if (mode === 'sync' || name !== 'product') {
    const figures = await measure(options)
    return { ...figures, donePerSecond: mode === 'sync' ? figures.acceptedPerSecond : null }
  }
  return measureBacklog({ ...options, database, workers, ...(mode === 'accept' ? { clear } : {}) })
}

function orderOf(
  { mode, batch }: EventScenario,
  { baseUrl }: ApiProcess,
  { headers }: Workspace,
): Omit<LoadOrder, 'seconds' | 'ratePerSecond' | 'connections'> {
  const event = { data: eventData }
  const body = batch === undefined ? event : { events: Array.from({ length: batch }, () => event) }
  return {
    origins: [baseUrl],
    requests: [
      {
        path: `/api/automation-rules/trigger/${eventType}${batch === undefined ? '' : '/batch'}`,
        headers: mode === 'sync' ? headers : { ...headers, prefer: 'respond-async' },
        payload: JSON.stringify(body),
      },
    ],
    expectedStatus: mode === 'sync' ? 200 : 202,
  }
}

function withoutRedis({ redis: _, ...others }: PidsPerPart): PidsPerPart {
  return others
}
