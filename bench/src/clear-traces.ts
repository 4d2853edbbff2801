import { type Database, Prisma } from '@automation/database'
import type { Redis } from 'ioredis'

/**
 * Removes what earlier measurements left, so that each begins in the same state: no backlog for a worker, small tables
 * and indexes, and no dirty pages that Postgres would write during the next measurement.
 *
 * @param others tables that do not belong to the product
 */
export async function clearTraces(database: Database, redis: Redis, ...others: string[]): Promise<void> {
  await clearTables(database, ...others)
  await redis.flushall()
}

/** The same without Redis, where others have their own keys. */
export async function clearTables(database: Database, ...others: string[]): Promise<void> {
  const tables = ['events', 'executions', 'tasks', 'webhook_receipts', ...others]
  await database.system.$executeRaw(Prisma.sql`TRUNCATE ${Prisma.raw(tables.join(', '))}`)
  await database.system.$executeRaw(Prisma.sql`CHECKPOINT`)
}
