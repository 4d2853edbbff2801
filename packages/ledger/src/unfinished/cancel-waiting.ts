import { type Database, highestId, newId, Prisma, type WorkspaceTransaction } from '@automation/database'

/** How many executions a change cancels itself, in some 50 ms. Switching off must work also where a million wait. */
const cancelledAtOnce = 1_000
/** How many executions one statement of a sweep cancels. */
const cancelledPerStatement = 5_000

/**
 * Cancels the executions of rules that wait, or the deliveries to subscriptions, whose ids are in `rule_id` as well (addressee.ts).
 * Executions that a worker holds are left to it. A locked row is being claimed at this moment, so it is left as well, and nobody
 * waits for a lock.
 *
 * A change cancels the first thousand. Where there are more, it leaves a cancellation behind, and the sweeper does the rest
 * (continueCancellations). Until then claims cancel what falls due, and the rule cannot be activated (isBeingCancelled).
 *
 * `due_at IS NOT NULL` holds for every waiting execution. It lets Postgres read the index of unfinished executions instead of all
 * that the rules ever ran.
 *
 * @param reason becomes the error of each execution
 * @returns the number of executions by rule; rules without any are left out
 */
export async function cancelWaiting(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  ruleIds: string[],
  reason: string,
): Promise<Map<string, number>> {
  if (ruleIds.length === 0) return new Map()
  const rows = await transaction.$queryRaw<{ ruleId: string; count: number }[]>(Prisma.sql`
    WITH waiting_executions AS (
      SELECT id FROM executions
      WHERE rule_id = ANY (${ruleIds}::uuid[]) AND workspace_id = ${workspaceId}::uuid
        AND due_at IS NOT NULL AND status IN ('waiting', 'retrying')
      ORDER BY id DESC
      LIMIT ${cancelledAtOnce}
      FOR UPDATE SKIP LOCKED
    ),
    cancelled_executions AS (
      UPDATE executions SET status = 'cancelled', error = ${reason}, finished_at = now(), due_at = NULL, lease = NULL
      FROM waiting_executions WHERE executions.id = waiting_executions.id
      RETURNING executions.rule_id
    )
    SELECT rule_id AS "ruleId", count(*)::int AS count FROM cancelled_executions GROUP BY rule_id`)
  if (rows.reduce((sum, { count }) => sum + count, 0) === cancelledAtOnce)
    await transaction.cancellation.createMany({
      data: ruleIds.map((ruleId) => ({ id: newId(), workspaceId, ruleId, reason })),
    })
  return new Map(rows.map(({ ruleId, count }) => [ruleId, count]))
}

/** True while executions of one of these rules, or deliveries to one of these subscriptions, are still to be cancelled. */
export async function isBeingCancelled(
  { cancellation }: Pick<WorkspaceTransaction, 'cancellation'>,
  ruleIds: string[],
): Promise<boolean> {
  return ruleIds.length > 0 && (await cancellation.findFirst({ where: { ruleId: { in: ruleIds } } })) !== null
}

/**
 * Cancels executions for the oldest cancellation, and removes it where none is left. An execution that began after the change was
 * requested by hand: its id is higher, because ids begin with their time. The newest come first: what waits is behind the history of
 * the rule, and each statement continues below the one before.
 *
 * $1 executions per statement · $2 the lowest id of the statement before
 */
const continueCancellationSql = `
  WITH oldest_cancellation AS (
    SELECT * FROM cancellations ORDER BY id LIMIT 1
  ),
  waiting_executions AS (
    SELECT executions.id, oldest_cancellation.reason
    FROM oldest_cancellation JOIN executions
      ON executions.rule_id = oldest_cancellation.rule_id
      AND executions.workspace_id = oldest_cancellation.workspace_id
      AND executions.id < least(oldest_cancellation.id, $2::uuid)
    WHERE executions.due_at IS NOT NULL AND executions.status IN ('waiting', 'retrying')
    ORDER BY executions.id DESC
    LIMIT $1
    FOR UPDATE OF executions SKIP LOCKED
  ),
  cancelled_executions AS (
    UPDATE executions
    SET status = 'cancelled', error = waiting_executions.reason, finished_at = now(), due_at = NULL, lease = NULL
    FROM waiting_executions WHERE executions.id = waiting_executions.id
    RETURNING executions.id
  ),
  removed_cancellations AS (
    DELETE FROM cancellations USING oldest_cancellation
    WHERE cancellations.id = oldest_cancellation.id AND (SELECT count(*) FROM cancelled_executions) < $1
  )
  SELECT count(*)::int AS cancelled, EXISTS (SELECT FROM oldest_cancellation) AS "isPending",
         (array_agg(id ORDER BY id))[1] AS lowest
  FROM cancelled_executions`

/**
 * Cancels what changes have left to be cancelled, until nothing is left or the time is over.
 *
 * @returns how many executions were cancelled
 */
export async function continueCancellations(database: Database, isOver: () => boolean): Promise<number> {
  let sum = 0
  let below = highestId
  while (!isOver()) {
    const [row] = await database.run<{ cancelled: number; isPending: boolean; lowest: string | null }>(
      'continue_cancellation',
      continueCancellationSql,
      [cancelledPerStatement, below],
    )
    if (!row?.isPending) break
    sum += row.cancelled
    // A full statement is continued below it. Otherwise the next cancellation begins.
    below = row.cancelled === cancelledPerStatement && row.lowest !== null ? row.lowest : highestId
  }
  return sum
}
