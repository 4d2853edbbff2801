import type { Database } from '@automation/database'

/** Higher numbers are not counted. */
const maxCountedWaiting = 100_000

/** Each from an index alone. $1 how many at most */
const countWaitingSql = `
  SELECT (SELECT count(*)::int FROM (
            SELECT FROM executions WHERE status = 'waiting' AND wait_key IS NOT NULL LIMIT $1) AS waits) AS event,
         (SELECT count(*)::int FROM (SELECT FROM key_claims WHERE place = 'queued' LIMIT $1) AS queued) AS key,
         (SELECT count(*)::int FROM (SELECT FROM key_claims WHERE place = 'collects' LIMIT $1) AS batches) AS batch`

/** How many executions wait for an event or a decision, for their key, and for the end of their batch. */
export async function countWaiting(
  database: Pick<Database, 'run'>,
): Promise<Record<'event' | 'key' | 'batch', number>> {
  const values = [maxCountedWaiting]
  const [row] = await database.run<{ event: number; key: number; batch: number }>(
    'count_waiting',
    countWaitingSql,
    values,
  )
  return row ?? { event: 0, key: 0, batch: 0 }
}
