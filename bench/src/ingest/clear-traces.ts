import { type Database, Prisma } from '@automation/database'
import type { Redis } from 'ioredis'

/**
 * Takes away what earlier measurements left, so that each begins the same: no backlog for a worker, small tables and
 * indexes, and nothing left for Postgres to write out in the next one's time.
 */
export async function clearTraces(database: Database, redis: Redis): Promise<void> {
  await database.system.$executeRaw(
    Prisma.sql`TRUNCATE events, executions, tasks, webhook_receipts, yardstick_webhooks`,
  )
  await database.system.$executeRaw(Prisma.sql`CHECKPOINT`)
  await redis.flushall()
}
