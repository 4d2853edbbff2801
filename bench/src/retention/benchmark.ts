import { setTimeout as delay } from 'node:timers/promises'
import { type Database, Prisma } from '@automation/database'
import type { Product } from '@automation/launcher'
import type { ProductPlan } from '../benchmark.js'
import { clearTraces } from '../clear-traces.js'
import { type Connections, withConnections } from '../connections.js'
import { pidsOf, readCpuMicros } from '../cpu-time.js'
import { startQuietCallers } from '../load/quiet-callers.js'
import type { Options } from '../options.js'
import { waitsOf } from '../statistics.js'
import { createWorkspaces, oneTask, type Workspace } from '../workspace.js'
import { fillHistory } from './fill-history.js'
import { aimsOf, formatRetention, type RetentionFigures, type Stretch } from './report.js'

interface Stage extends Connections {
  product: Product
  callers: Workspace[]
}

const executionsOfEvent = 10
/** Each caller posts an event a second and waits for its outcome. */
const callerCount = 50
const warmUpMs = 2_000
const pollMs = 250
const limitMs = 600_000
const path = '/api/automation-rules/trigger/LEAD_CREATED'
const never = { RETENTION_DAYS: '0' }
const now = {
  RETENTION_DAYS: '30',
  NODE_OPTIONS: `--import=${new URL('./soon-process.js', import.meta.url)}`,
}

/** The cost of removing a day with many executions, and the waits of callers meanwhile. */
export function planRetention(options: Options): ProductPlan {
  return {
    workers: 0,
    run: (product) =>
      withConnections(product, async (connections) => {
        const callers = await createWorkspaces(connections.database, product, callerCount, oneTask)
        const stage = { ...connections, product, callers }
        const results: RetentionFigures[] = []
        for (let round = 1; round <= options.rounds; round++) {
          console.error(`round ${round}/${options.rounds}  retention`)
          results.push(await measureRound(stage, options.executions))
        }
        return { results, aims: aimsOf(results), text: formatRetention(results) }
      }),
  }
}

async function measureRound(stage: Stage, executions: number): Promise<RetentionFigures> {
  const { database, redis, postgres, product, callers } = stage
  await clearTraces(database, redis)
  const [{ id: workspaceId } = { id: '' }] = callers
  const border = await fillHistory(database, workspaceId, {
    events: executions / executionsOfEvent,
    daysAgo: 33,
  })
  await postgres.query('VACUUM ANALYZE')
  await postgres.query('CHECKPOINT')
  const removing = await measureStretch(stage, now, () => untilRemoved(database, workspaceId, border))
  const server = { postgres: product.postgres ? [product.postgres.pid] : [] }
  const before = readCpuMicros(server)
  await postgres.query('VACUUM ANALYZE events, executions')
  const after = readCpuMicros(server)
  const vacuumMicros = (after.postgres ?? 0) - (before.postgres ?? 0)
  // For the same time, since the maximum of more waits is longer.
  const alone = await measureStretch(stage, never, () => delay(removing.seconds * 1_000))
  return { executions, alone, removing, vacuumMicros }
}

/** The waits of the callers during some work. */
async function measureStretch(
  { database, product, callers }: Stage,
  env: Record<string, string>,
  until: () => Promise<void>,
): Promise<Stretch> {
  const [api, worker] = await Promise.all([product.startApi(), product.startWorker(env)])
  const posting = startQuietCallers(api.baseUrl, callers, path)
  try {
    await delay(warmUpMs)
    posting.take()
    const pids = pidsOf(product, [api], [worker])
    const cpuBefore = readCpuMicros(pids)
    const walBefore = await readWalBytes(database)
    const startedAt = performance.now()
    await until()
    const seconds = (performance.now() - startedAt) / 1_000
    const cpu = readCpuMicros(pids)
    return {
      seconds,
      waits: waitsOf(posting.take()),
      walBytes: (await readWalBytes(database)) - walBefore,
      postgresMicros: (cpu.postgres ?? 0) - (cpuBefore.postgres ?? 0),
      workerMicros: (cpu.worker ?? 0) - (cpuBefore.worker ?? 0),
    }
  } finally {
    await posting.stop()
    await Promise.all([api.stop(), worker.stop()])
  }
}

async function untilRemoved(database: Database, workspaceId: string, border: string): Promise<void> {
  const deadline = performance.now() + limitMs
  const own = database.forWorkspace(workspaceId)
  while ((await own.event.findFirst({ where: { id: { lt: border } }, select: { id: true } })) !== null) {
    if (performance.now() > deadline) throw new Error('The old history is still not removed')
    await delay(pollMs)
  }
}

async function readWalBytes(database: Database): Promise<number> {
  const [wal] = await database.system.$queryRaw<{ bytes: number }[]>(
    Prisma.sql`SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS bytes`,
  )
  return wal?.bytes ?? 0
}
