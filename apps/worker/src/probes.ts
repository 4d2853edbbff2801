import { createServer, type Server } from 'node:http'
import { type Database, isTableMissing } from '@automation/database'
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

/**
 * `/healthz`: the process answers. `/readyz`: it makes progress, too, which is more than being connected: a worker that sits
 * idle before work that is due is of no use, whatever the reason.
 *
 * @param isIdle whether it has neither job nor run
 */
export function openProbes(parts: { database: Database; redis: Redis; isIdle(): boolean }): Server {
  return createServer(async ({ url, method }, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (method !== 'GET' && method !== 'HEAD') return answer(405, { error: 'Method not allowed' })
    if (url === '/healthz') return answer(200, { status: 'ok' })
    if (url !== '/readyz') return answer(404, { error: 'Not found' })
    const readiness = await judge(parts)
    return answer(readiness.status === 'ready' ? 200 : 503, readiness)
  })
}

async function judge(parts: { database: Database; redis: Redis; isIdle(): boolean }): Promise<Readiness> {
  const [overdue, redis] = await Promise.all([findOverdue(parts.database), askRedis(parts.redis)])
  const postgres = overdue === 'away' ? 'away' : 'ok'
  const progress = overdue === 'away' ? 'unknown' : overdue && parts.isIdle() ? 'stuck' : 'ok'
  const isReady = postgres === 'ok' && redis === 'ok' && progress === 'ok'
  return { status: isReady ? 'ready' : 'unready', postgres, redis, progress }
}

async function findOverdue(database: Database): Promise<boolean | 'away'> {
  try {
    const [found] = await database.run<{ overdue: boolean }>('find_overdue', statement, [overdueSeconds])
    return found?.overdue ?? false
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

const statement = `
  SELECT EXISTS (SELECT FROM (SELECT accepted_at FROM events WHERE done_at IS NULL ORDER BY id LIMIT 1) AS oldest
                 WHERE accepted_at < now() - make_interval(secs => $1))
      OR EXISTS (SELECT FROM executions WHERE due_at < now() - make_interval(secs => $1)) AS overdue`
