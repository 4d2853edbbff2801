import { createPrivateDatabase, type Product } from '@automation/launcher'
import { runRounds } from '../benchmark.js'
import { clearTraces } from '../clear-traces.js'
import { type Connections, withConnections } from '../connections.js'
import { pidsOf } from '../cpu-time.js'
import { eventData, eventType, oneOfTenMatches } from '../events/scenarios.js'
import { type Figures, measure } from '../measure.js'
import type { Measurement } from '../measurements.js'
import type { Options } from '../options.js'
import { runOnProduct } from '../private-product.js'
import type { Result } from '../report.js'
import { createWorkspace, type Workspace } from '../workspace.js'
import { insertHistory } from './insert-history.js'
import { type GrowthScenario, tell } from './scenarios.js'

/** A product with a history. Each has its own database on the same servers. */
interface Past extends Connections {
  product: Product
  workspace: Workspace
}

/** The same requests, in turn to products with histories of different lengths. */
export function measureHistories(
  servers: Product,
  measurements: Measurement<GrowthScenario>[],
  options: Options,
): Promise<Result[]> {
  const sizes = [...new Set(measurements.map(({ scenario }) => scenario.size))]
  return openPasts(servers, sizes, options, async (pasts) => {
    return runRounds(measurements, options.rounds, (measurement) =>
      measureHistory(servers, pasts.get(measurement.scenario.size) as Past, measurement, options.seconds),
    )
  })
}

/** Nested, so that all of them are stopped in every case. */
async function openPasts<Outcome>(
  servers: Product,
  [size, ...others]: number[],
  options: Options,
  run: (pasts: Map<number, Past>) => Promise<Outcome>,
): Promise<Outcome> {
  if (size === undefined) return run(new Map())
  const databaseUrl = await createPrivateDatabase(servers.databaseUrl)
  const env = { QUEUE_PREFIX: `{history-${size}}` }
  return runOnProduct(options, { databaseUrl, redisUrl: servers.redisUrl, env }, (product) =>
    withConnections(product, async (connections) => {
      const { database, postgres } = connections
      const name = `History of ${tell(size)}`
      const workspace = await createWorkspace(database, product, { name, rules: oneOfTenMatches })
      const seconds = await insertHistory(postgres, workspace.id, size)
      if (size > 0) console.error(`${name}: made in ${Math.round(seconds)} s`)
      return openPasts(servers, others, options, (pasts) =>
        run(new Map([[size, { ...connections, product, workspace }], ...pasts])),
      )
    }),
  )
}

async function measureHistory(
  servers: Product,
  { product, workspace, database, redis }: Past,
  { scenario: { reads, size }, connections }: Measurement<GrowthScenario>,
  seconds: number,
): Promise<Figures> {
  const workers = reads === undefined ? product.workers : []
  const pids = pidsOf(servers, product.apis, workers)
  const { headers } = workspace
  const common = { origins: [workspace.baseUrl], expectedStatus: 200, connections }
  if (reads !== undefined)
    return measure({ order: { ...common, requests: [{ path: reads, headers }] }, pids, seconds })
  // The measurement must not create a history in the product without one.
  if (size === 0) await clearTraces(database, redis)
  const payload = JSON.stringify({ data: eventData })
  const requests = [{ path: `/api/automation-rules/trigger/${eventType}`, headers, payload }]
  const figures = await measure({ order: { ...common, requests }, pids, seconds })
  return { ...figures, donePerSecond: figures.acceptedPerSecond }
}
