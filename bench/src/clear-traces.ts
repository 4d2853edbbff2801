import { type Database, Prisma } from '@automation/database'
import type { Redis } from 'ioredis'

/**
 * Takes away what earlier measurements left, so that each begins the same: no backlog for a worker, small tables and
 * indexes, and nothing left for Postgres to write out in the next one's time.
 *
 * @param others tables that are not the product's
 */
export async function clearTraces(database: Database, redis: Redis, ...others: string[]): Promise<void> {
  const tables = ['events', 'executions', 'tasks', 'webhook_receipts', ...others]
  await database.system.$executeRaw(Prisma.sql`TRUNCATE ${Prisma.raw(tables.join(', '))}`)
  await database.system.$executeRaw(Prisma.sql`CHECKPOINT`)
  await redis.flushall()
}
