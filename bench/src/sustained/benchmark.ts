import type { Product } from '@automation/launcher'
import { drainBacklog } from '../backlog.js'
import type { ProductPlan } from '../benchmark.js'
import { clearTraces } from '../clear-traces.js'
import { type Connections, withConnections } from '../connections.js'
import { type PidsPerPart, pidsOf, readCpuMicros, shareCpu } from '../cpu-time.js'
import { type Load, type LoadRequest, startLoad } from '../load/load.js'
import { warmUp } from '../load/warm-up.js'
import { chooseMeasurements } from '../measurements.js'
import type { Options } from '../options.js'
import { takeTurns } from '../rounds.js'
import { readPostgresWork, workSince } from './postgres-work.js'
import { formatSustained, type SustainedFigures } from './report.js'
import { isSustained, sustainedShares, waitShares } from './steps.js'
import { createTenants, tenantCount } from './tenants.js'

interface Stage extends Connections {
  pids: PidsPerPart
  load: Load
  mode: SustainedFigures['mode']
  round: number
}

type Step = Pick<SustainedFigures, 'line' | 'share' | 'seconds'>

const modes = [
  { name: 'sync' as const, prefer: 'wait=30', expectedStatus: 200, connections: [128] },
  { name: 'async' as const, prefer: 'respond-async', expectedStatus: 202, connections: [128] },
]
type Mode = (typeof modes)[number]

/** An open loop may have more callers at a time than a closed one. */
const openConnections = 512
const waitsPart = 1 / 5
const capacityPart = 1 / 10

/** Events of many workspaces at a fixed rate, with everything switched on that is on in production. */
export function planSustained(options: Options): ProductPlan {
  const measurements = chooseMeasurements(modes, options.only)
  return {
    workers: 1,
    run: (product) =>
      withConnections(product, async (connections) => {
        const requests = await createTenants(connections.database, product)
        const figures = await takeTurns(measurements, options.rounds, ({ scenario }, round) =>
          measureMode(product, connections, requests, scenario, round, options.seconds),
        )
        const results = [...figures.values()].flat(2)
        return { results, text: formatSustained(results) }
      }),
  }
}

/** The tables are emptied once, before the first step. */
async function measureMode(
  product: Product,
  connections: Connections,
  requests: LoadRequest[],
  mode: Mode,
  round: number,
  seconds: number,
): Promise<SustainedFigures[]> {
  await clearTraces(connections.database, connections.redis)
  const pids = pidsOf(product, product.apis, product.workers)
  const order = {
    origins: product.apis.map(({ baseUrl }) => baseUrl),
    requests: requests.map((request) => ({
      ...request,
      headers: { ...request.headers, prefer: mode.prefer },
    })),
    expectedStatus: mode.expectedStatus,
  }
  const closed = startLoad({ ...order, connections: mode.connections[0] ?? 1 })
  const open = startLoad({ ...order, connections: openConnections })
  const stage = { ...connections, pids, mode: mode.name, round }
  const results: SustainedFigures[] = []
  const add = (figures: SustainedFigures) => {
    console.error(formatSustained([figures]))
    results.push(figures)
    return figures
  }
  try {
    const capacity = add(await measureCapacity({ ...stage, load: closed }, seconds * capacityPart))
    const at = (step: Step) =>
      measureOpen({ ...stage, load: open }, step, capacity.donePerSecond * step.share)
    for (const share of waitShares) add(await at({ line: 'waits', share, seconds: seconds * waitsPart }))
    for (const share of sustainedShares)
      if (add(await at({ line: 'sustained', share, seconds })).isSustained) break
    return results
  } finally {
    await Promise.all([closed.stop(), open.stop()])
  }
}

/** What 128 callers get done when each sends its next event after the last response, with the worker running. */
async function measureCapacity(stage: Stage, seconds: number): Promise<SustainedFigures> {
  const { database, load, pids } = stage
  await warmUp(load, pids)
  await drainBacklog(database)
  return observe(stage, { line: 'capacity', share: 1, seconds }, async () => {
    const { requests } = await load.run(seconds)
    await drainBacklog(database)
    return {
      requests,
      duePerSecond: null,
      waits: null,
      windows: [],
      latestMs: 0,
      failures: 0,
      isSustained: false,
    }
  })
}

async function measureOpen(stage: Stage, step: Step, ratePerSecond: number): Promise<SustainedFigures> {
  const { database, load } = stage
  // New connections are opened before they are measured.
  await load.runOpen(1, ratePerSecond)
  await drainBacklog(database)
  return observe(stage, step, async () => {
    const result = await load.runOpen(step.seconds, ratePerSecond)
    const answeredAt = performance.now()
    await drainBacklog(database)
    const drainSeconds = (performance.now() - answeredAt) / 1_000
    if (result.failures > 0) console.error(`${result.failures} failures; the first: ${result.firstFailure}`)
    return {
      ...result,
      duePerSecond: ratePerSecond,
      isSustained: isSustained({ ...result, seconds: step.seconds, drainSeconds }),
    }
  })
}

type Observed = Pick<
  SustainedFigures,
  'duePerSecond' | 'waits' | 'windows' | 'latestMs' | 'failures' | 'isSustained'
> & { requests: number }

async function observe(
  { pids, mode, round, postgres }: Stage,
  step: Step,
  run: () => Promise<Observed>,
): Promise<SustainedFigures> {
  const [workBefore, cpuBefore, startedAt] = [
    await readPostgresWork(postgres),
    readCpuMicros(pids),
    performance.now(),
  ]
  const { requests, duePerSecond, waits, windows, latestMs, failures, isSustained } = await run()
  const seconds = (performance.now() - startedAt) / 1_000
  return {
    mode,
    round,
    ...step,
    workspaces: tenantCount,
    donePerSecond: requests / seconds,
    duePerSecond,
    waits,
    windows,
    latestMs,
    failures,
    isSustained,
    cpuMicrosPerEvent: shareCpu(cpuBefore, readCpuMicros(pids), requests),
    postgres: workSince(workBefore, await readPostgresWork(postgres)),
  }
}
