import { createServer, type Server } from 'node:http'
import { isReadOnly, isTableMissing } from '@automation/database'
import { createSharedReading } from '@automation/process/telemetry'
import type { ClockState } from '@automation/queue'
import type { Redis } from 'ioredis'

/** The response of /readyz. */
export interface Readiness {
  status: 'ready' | 'unready'
  postgres: 'ok' | DatabaseFault
  redis: 'ok' | 'away'
  /** stuck: work has been due for long and jobs wait, though this worker has been idle for long. */
  progress: 'ok' | 'stuck' | 'unknown'
  /** differs: from that of Postgres, by more than a minute. outvoted: and other workers agree with Postgres. */
  clock: ClockState
}

/** read_only: a standby, a server without writes, or a primary that a failover has replaced. */
type DatabaseFault = 'away' | 'read_only'

/** After this time (seconds), an idle worker should have claimed an event or execution that is due. */
const overdueSeconds = 30
/** A worker that takes jobs is of use, whatever becomes of them. */
const longIdleMs = overdueSeconds * 1_000

/** How long (ms) a readiness is kept, however many ask for it. */
const keepMs = 1_000

interface Working {
  redis: Redis
  /** For how long (ms) the worker has had neither a job nor an execution. */
  idleMs(): number
  /** Whether a job waits for any worker. */
  hasWaitingJobs(): Promise<boolean>
  clock(): ClockState
}

/**
 * `/healthz`: the process responds. `/readyz`: the worker makes progress, too. To be connected is not enough: a
 * worker that stays idle while jobs wait is of no use. One event that is tried again and again makes no worker unready: somebody takes its job each time.
 *
 * @param findOldestDueSeconds from createOldestDue
 * @param findWorker returns undefined while the process waits for Postgres and Redis
 * @param isPaused after a restore it waits for the operator, which no restart of it mends
 */
export function openProbes(
  findOldestDueSeconds: () => Promise<number>,
  findWorker: () => Working | undefined,
  isPaused: () => boolean = () => false,
): Server {
  const readReadiness = createSharedReading(async () => {
    const worker = findWorker()
    return worker && findReadiness(findOldestDueSeconds, worker)
  }, keepMs)

  return createServer(async ({ url, method }, response) => {
    const respond = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (method !== 'GET' && method !== 'HEAD') return respond(405, { error: 'Method not allowed' })
    if (url === '/healthz') return respond(200, { status: 'ok' })
    if (url !== '/readyz') return respond(404, { error: 'Not found' })
    const readiness = await readReadiness()
    if (isPaused()) return respond(200, { status: 'paused' })
    if (readiness === undefined) return respond(503, { status: 'starting' })
    return respond(readiness.status === 'ready' ? 200 : 503, readiness)
  })
}

async function findReadiness(
  findOldestDueSeconds: () => Promise<number>,
  worker: Working,
): Promise<Readiness> {
  const [isOverdue, redis] = await Promise.all([findOverdue(findOldestDueSeconds), pingRedis(worker.redis)])
  const postgres = typeof isOverdue === 'string' ? isOverdue : 'ok'
  const progress = postgres !== 'ok' ? 'unknown' : isOverdue && (await isStuck(worker)) ? 'stuck' : 'ok'
  const clock = worker.clock()
  const isReady = postgres === 'ok' && redis === 'ok' && progress === 'ok' && clock !== 'outvoted'
  return { status: isReady ? 'ready' : 'unready', postgres, redis, progress, clock }
}

/** Without Redis it is unknown whether jobs wait, and the worker is not ready in any case. */
async function isStuck(worker: Working): Promise<boolean> {
  return worker.idleMs() > longIdleMs && (await worker.hasWaitingJobs().catch(() => false))
}

async function findOverdue(findOldestDueSeconds: () => Promise<number>): Promise<boolean | DatabaseFault> {
  try {
    return (await findOldestDueSeconds()) > overdueSeconds
  } catch (error) {
    if (isTableMissing(error)) return false
    return isReadOnly(error) ? 'read_only' : 'away'
  }
}

async function pingRedis(redis: Redis): Promise<'ok' | 'away'> {
  return redis.ping().then(
    () => 'ok',
    () => 'away',
  )
}
