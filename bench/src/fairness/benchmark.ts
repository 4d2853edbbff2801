import { setTimeout as delay } from 'node:timers/promises'
import { type Database, openDatabase, Prisma } from '@automation/database'
import type { Product } from '@automation/launcher'
import { Redis } from 'ioredis'
import { drainBacklog } from '../backlog.js'
import type { Plan } from '../benchmark.js'
import { clearTraces } from '../clear-traces.js'
import { pidsOf, readCpuMicros, shareCpu } from '../cpu-time.js'
import { startLoad } from '../load.js'
import { chooseMeasurements } from '../measurements.js'
import type { Options } from '../options.js'
import { createWorkspace, oneTask, type Workspace } from '../workspace.js'
import { startQuietCallers } from './quiet-callers.js'
import { type FairnessFigures, formatFairness, quantilesOf } from './report.js'

interface Stage {
  database: Database
  redis: Redis
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
export function planFairness(options: Options): Plan {
  const measurements = chooseMeasurements(scenarios, options.only)
  return {
    workers: 0,
    async run(product) {
      const database = openDatabase(product.databaseUrl, 2)
      const redis = new Redis(product.redisUrl)
      try {
        const [flooding, ...quiet] = await openWorkspaces(database, product)
        const stage = { database, redis, product, flooding: flooding as Workspace, quiet }
        const results: FairnessFigures[] = []
        for (let round = 1; round <= options.rounds; round++) {
          for (const { scenario } of measurements) {
            console.error(`round ${round}/${options.rounds}  ${scenario.name}`)
            results.push(await measureFlood(stage, scenario, options.seconds))
          }
        }
        return { results, text: formatFairness(results) }
      } finally {
        redis.disconnect()
        await database.close()
      }
    },
  }
}

async function openWorkspaces(database: Database, product: Product): Promise<Workspace[]> {
  const workspaces: Workspace[] = []
  for (let number = 0; number <= quietCount; number++)
    workspaces.push(await createWorkspace(database, product, { name: `Workspace ${number}`, rules: oneTask }))
  return workspaces
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
    path,
    headers: { ...flooding.headers, prefer: 'respond-async' },
    payload: JSON.stringify({ data: { name: 'Ada' } }),
    expectedStatus: 202,
    connections,
  })
  let callers = startQuietCallers(api.baseUrl, quiet, path)
  try {
    await delay(warmUpMs)
    callers.take()
    await delay(seconds * 1_000)
    const alone = quantilesOf(callers.take())
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
      flooded: quantilesOf(callers.take()),
      cpuMicrosPerEvent: shareCpu(cpuBefore, readCpuMicros(pids), accepted),
    }
  } finally {
    await callers.stop()
    await load.stop()
    await Promise.all([api.stop(), worker.stop()])
  }
}
