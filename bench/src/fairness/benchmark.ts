import { setTimeout as delay } from 'node:timers/promises'
import { Prisma } from '@automation/database'
import type { Product } from '@automation/launcher'
import { drainBacklog } from '../backlog.js'
import type { ProductPlan } from '../benchmark.js'
import { clearTraces } from '../clear-traces.js'
import { type Connections, withConnections } from '../connections.js'
import { pidsOf, readCpuMicros, shareCpu } from '../cpu-time.js'
import { startLoad } from '../load/load.js'
import { startQuietCallers } from '../load/quiet-callers.js'
import { chooseMeasurements } from '../measurements.js'
import type { Options } from '../options.js'
import { takeTurns } from '../rounds.js'
import { waitsOf } from '../statistics.js'
import { createWorkspaces, oneTask, type Workspace } from '../workspace.js'
import { aimsOf, type FairnessFigures, formatFairness } from './report.js'

interface Stage extends Connections {
  product: Product
  flooding: Workspace
  quiet: Workspace[]
}

const floodSize = 100_000
const quietCount = 50
const warmUpMs = 1_000
const path = '/api/automation-rules/trigger/LEAD_CREATED'

/** Both in turn, in the same run, so that other load on the machine affects both. */
const scenarios = [
  { name: 'first come', isFair: false, connections: [32] },
  { name: 'fair share', isFair: true, connections: [32] },
]
type Scenario = (typeof scenarios)[number]

/** How a flood of one workspace changes the waits of others, with and without fair shares. */
export function planFairness(options: Options): ProductPlan {
  const measurements = chooseMeasurements(scenarios, options.only)
  return {
    workers: 0,
    run: (product) =>
      withConnections(product, async (connections) => {
        const workspaces = await createWorkspaces(connections.database, product, quietCount + 1, oneTask)
        const [flooding, ...quiet] = workspaces
        const stage = { ...connections, product, flooding: flooding as Workspace, quiet }
        const figures = await takeTurns(measurements, options.rounds, ({ scenario }, round) => {
          console.error(`round ${round}/${options.rounds}  ${scenario.name}`)
          return measureFlood(stage, scenario, options.seconds)
        })
        const results: FairnessFigures[] = [...figures.values()].flat()
        return { results, aims: aimsOf(results), text: formatFairness(results) }
      }),
  }
}

async function measureFlood(
  { database, redis, product, flooding, quiet }: Stage,
  { name, isFair, connections: [connections = 1] }: Scenario,
  seconds: number,
): Promise<FairnessFigures> {
  await clearTraces(database, redis)
  const preload = { NODE_OPTIONS: `--import=${new URL('./first-come-process.js', import.meta.url)}` }
  const env = isFair ? {} : preload
  const [api, worker] = await Promise.all([product.startApi(env), product.startWorker(env)])
  const pids = pidsOf(product, [api], [worker])
  const load = startLoad({
    origins: [api.baseUrl],
    requests: [
      {
        path,
        headers: { ...flooding.headers, prefer: 'respond-async' },
        payload: JSON.stringify({ data: { name: 'Ada' } }),
      },
    ],
    expectedStatus: 202,
    connections,
  })
  let callers = startQuietCallers(api.baseUrl, quiet, path)
  try {
    await delay(warmUpMs)
    callers.take()
    await delay(seconds * 1_000)
    const alone = waitsOf(callers.take())
    await callers.stop()
    // The backlog is there at once, since its growth would depend on the API.
    worker.kill('SIGSTOP')
    const acceptedFrom = performance.now()
    let accepted = 0
    while (accepted < floodSize) accepted += (await load.run(1)).requests
    const acceptedSeconds = (performance.now() - acceptedFrom) / 1_000
    // Otherwise the plans depend on chance: autovacuum may have analysed the tables while they were empty.
    await database.system.$executeRaw(Prisma.sql`ANALYZE`)
    callers = startQuietCallers(api.baseUrl, quiet, path)
    const cpuBefore = readCpuMicros(pids)
    const startedAt = performance.now()
    worker.kill('SIGCONT')
    await drainBacklog(database)
    const doneSeconds = (performance.now() - startedAt) / 1_000
    return {
      scenario: name,
      flood: accepted,
      acceptedPerSecond: accepted / acceptedSeconds,
      donePerSecond: accepted / doneSeconds,
      alone,
      flooded: waitsOf(callers.take()),
      cpuMicrosPerEvent: shareCpu(cpuBefore, readCpuMicros(pids), accepted),
    }
  } finally {
    await callers.stop()
    await load.stop()
    await Promise.all([api.stop(), worker.stop()])
  }
}
