import type { Stage } from './product.js'

/**
 * Removes what earlier measurements left, so that each begins in the same state: no backlog for a worker, small tables
 * and indexes, and no dirty pages that Postgres would write during the next measurement.
 *
 * @param others tables that do not belong to the product
 */
export async function clearTraces(
  { postgres, redis }: Pick<Stage, 'postgres' | 'redis'>,
  ...others: string[]
): Promise<void> {
  await clearTables(postgres, ...others)
  await redis.flushall()
}

/** The same without Redis, if others have their own keys. */
export async function clearTables(postgres: Stage['postgres'], ...others: string[]): Promise<void> {
  const tables = ['events', 'executions', 'tasks', 'webhook_receipts', ...others]
  await postgres.query(`TRUNCATE ${tables.join(', ')}`)
  await postgres.query('CHECKPOINT')
}
