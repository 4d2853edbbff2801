import { firstIdOf, highestId, lowestId, Prisma } from '@automation/database'
import { dayMs } from './keeping-executions.js'
import type { Removal } from './removal.js'

/**
 * Creates the removal of tasks that are older than `days`. A task stays, whatever its age, while its execution is stored: the
 * reconciliation finds the task of every execution. So it comes after the removal of history.
 *
 * Each batch continues behind the last task that it looked at. What is kept is walked again each round.
 *
 * @param now epoch ms
 * @param days 0: for ever
 * @param wholeFrom the rest goes with its leaf (leaves/exchange.ts)
 */
export function createTaskRemoval(now: number, days: number, wholeFrom = highestId): Removal {
  const old = days === 0 ? lowestId : firstIdOf(now - days * dayMs)
  const before = old < wholeFrom ? old : wholeFrom
  let after = lowestId
  return async (transaction, size) => {
    const [batch] = await transaction.$queryRaw<
      { seen: number; last: string | null; removed: number }[]
    >(Prisma.sql`
      WITH old_tasks AS (
        SELECT id, execution_id FROM tasks
        WHERE id > ${after}::uuid AND id < ${before}::uuid
        ORDER BY id LIMIT ${size}
      ),
      removed_tasks AS (
        DELETE FROM tasks WHERE id > ${after}::uuid AND id < ${before}::uuid AND id IN (
          SELECT id FROM old_tasks
          WHERE NOT EXISTS (SELECT FROM executions WHERE executions.id = old_tasks.execution_id))
        RETURNING 1
      )
      SELECT (SELECT count(*) FROM old_tasks)::int AS seen,
             (SELECT id FROM old_tasks ORDER BY id DESC LIMIT 1) AS last,
             (SELECT count(*) FROM removed_tasks)::int AS removed`)
    const { seen = 0, last = null, removed = 0 } = batch ?? {}
    after = last ?? after
    return { removed, isOver: seen < size }
  }
}
