import { createServer, type Server } from 'node:http'
import { isTableMissing } from '@automation/database'
import type { Redis } from 'ioredis'

/** What a worker tells of itself. */
export interface Readiness {
  status: 'ready' | 'unready'
  postgres: 'ok' | 'away'
  redis: 'ok' | 'away'
  /** stuck: something has been due for long, though this worker has nothing to do. */
  progress: 'ok' | 'stuck' | 'unknown'
}

/** An event or execution that is due for longer (seconds) should have been taken up by an idle worker. */
const overdueSeconds = 30

interface Working {
  redis: Redis
  /** Whether it has neither job nor run. */
  isIdle(): boolean
}

/**
 * `/healthz`: the process answers. `/readyz`: it makes progress, too, which is more than being connected: a worker that sits
 * idle before work that is due is of no use, whatever the reason.
 *
 * @param findOldestDueSeconds as createOldestDue makes it
 * @param findWorker undefined as long as the process waits for what it stands on
 */
export function openProbes(
  findOldestDueSeconds: () => Promise<number>,
  findWorker: () => Working | undefined,
): Server {
  return createServer(async ({ url, method }, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (method !== 'GET' && method !== 'HEAD') return answer(405, { error: 'Method not allowed' })
    if (url === '/healthz') return answer(200, { status: 'ok' })
    if (url !== '/readyz') return answer(404, { error: 'Not found' })
    const worker = findWorker()
    if (worker === undefined) return answer(503, { status: 'starting' })
    const readiness = await judge(findOldestDueSeconds, worker)
    return answer(readiness.status === 'ready' ? 200 : 503, readiness)
  })
}

async function judge(findOldestDueSeconds: () => Promise<number>, worker: Working): Promise<Readiness> {
  const [overdue, redis] = await Promise.all([findOverdue(findOldestDueSeconds), askRedis(worker.redis)])
  const postgres = overdue === 'away' ? 'away' : 'ok'
  const progress = overdue === 'away' ? 'unknown' : overdue && worker.isIdle() ? 'stuck' : 'ok'
  const isReady = postgres === 'ok' && redis === 'ok' && progress === 'ok'
  return { status: isReady ? 'ready' : 'unready', postgres, redis, progress }
}

async function findOverdue(findOldestDueSeconds: () => Promise<number>): Promise<boolean | 'away'> {
  try {
    return (await findOldestDueSeconds()) > overdueSeconds
  } catch (error) {
    if (isTableMissing(error)) return false
    return 'away'
  }
}

async function askRedis(redis: Redis): Promise<'ok' | 'away'> {
  return redis.ping().then(
    () => 'ok',
    () => 'away',
  )
}
