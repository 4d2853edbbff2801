import { setTimeout as delay } from 'node:timers/promises'
import {
  type Database,
  highestId,
  lowestId,
  newId,
  Prisma,
  type WorkspaceTransaction,
} from '@automation/database'
import { mayRunSql } from '../may-run.js'
import { inTurns, ownerSql } from '../turns/in-turns.js'

/** How many executions a change cancels itself, in some 50 ms. Switching off must work also where a million wait. */
const cancelledAtOnce = 1_000
/** How many executions one statement of a worker cancels: so few that others hardly wait for a core or the disk. */
const cancelledPerStatement = 1_000
/** For how many cancellations. */
const cancellationsAtOnce = 20
/** It holds one of few connections meanwhile. */
const maxRestMs = 250
/** Of a transaction, its rest included. */
const timeoutMs = 12_000
/** Any number that nothing else in this database locks. */
const cancellingLock = 7_701_202_613n

/**
 * Cancels the executions of rules that wait, or the deliveries to subscriptions.
 * Executions that a worker holds are left to it. The change has switched the rule off before, under its lock: from then on no statement of
 * the ledger lets an execution wait for it (finish-events.ts), so this one sees all that wait.
 *
 * A change cancels the first thousand, and waits for no lock: a locked row is most likely being claimed. If more are left, it leaves a
 * cancellation behind, and workers do the rest (continueCancellations). Until then claims cancel what falls due, and the rule cannot be
 * activated (isBeingCancelled).
 *
 * An index holds the waiting executions of each rule (planByIndex).
 *
 * @param reason becomes the error of each execution
 * @returns the number of executions by rule; rules without any are left out
 */
export async function cancelWaiting(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  handlerIds: string[],
  reason: string,
): Promise<Map<string, number>> {
  if (handlerIds.length === 0) return new Map()
  await planByIndex(transaction, true)
  const unfinishedSql = Prisma.sql`
    SELECT id FROM executions
    WHERE handler_id = ANY (${handlerIds}::uuid[]) AND workspace_id = ${workspaceId}::uuid AND status IN ('waiting', 'retrying')`
  const rows = await transaction.$queryRaw<{ handlerId: string; count: number }[]>(Prisma.sql`
    WITH waiting_executions AS (${unfinishedSql} LIMIT ${cancelledAtOnce} FOR UPDATE SKIP LOCKED),
    cancelled_executions AS (
      UPDATE executions SET status = 'cancelled', error = ${reason}, finished_at = now(), due_at = NULL, lease = NULL
      FROM waiting_executions WHERE executions.id = waiting_executions.id
      RETURNING executions.handler_id
    )
    SELECT handler_id AS "handlerId", count(*)::int AS count FROM cancelled_executions GROUP BY 1`)
  const left = await transaction.$queryRaw<unknown[]>(Prisma.sql`${unfinishedSql} LIMIT 1`)
  await planByIndex(transaction, false)
  if (left.length > 0)
    await transaction.cancellation.createMany({
      data: handlerIds.map((handlerId) => ({ id: newId(), workspaceId, handlerId, reason })),
    })
  return new Map(rows.map(({ handlerId, count }) => [handlerId, count]))
}

/**
 * Makes Postgres walk along an index until it has enough, or lets it plan freely again, within a transaction. Before it knows of a
 * fresh backlog, it would rather collect all of it first.
 */
async function planByIndex(
  transaction: Pick<WorkspaceTransaction, '$queryRaw'>,
  isByIndex: boolean,
): Promise<void> {
  const mode = isByIndex ? 'off' : 'on'
  await transaction.$queryRaw(Prisma.sql`SELECT set_config('enable_bitmapscan', ${mode}, true)`)
}

/** True while executions of one of these rules, or deliveries to one of these subscriptions, are still to be cancelled. */
export async function isBeingCancelled(
  { cancellation }: Pick<WorkspaceTransaction, 'cancellation'>,
  handlerIds: string[],
): Promise<boolean> {
  return (
    handlerIds.length > 0 &&
    (await cancellation.findFirst({ where: { handlerId: { in: handlerIds } } })) !== null
  )
}

/** How many rules and subscriptions still have executions to be cancelled. */
export function countCancellations({ system }: Database): Promise<number> {
  return system.cancellation.count()
}

const mayRun = Prisma.raw(mayRunSql('rules', 'executions.id = executions.event_id'))

const cancellationsInTurns = Prisma.raw(
  inTurns({
    table: 'cancellations',
    ...{ key: 'id', order: 'id', from: `'${lowestId}'`, to: `'${highestId}'` },
    where: 'true',
    limit: `${cancellationsAtOnce}`,
  }),
)
const owner = Prisma.raw(ownerSql)

/**
 * Cancels executions for some of the cancellations, in equal parts for each owner, and removes those of which none is left, not even one that is locked at
 * this moment. One that was requested by hand is left to itself as long as it may continue: it may have begun, or have been retried, since the change.
 */
const continueCancellation = Prisma.sql`
  WITH ${cancellationsInTurns},
  owned_cancellations AS MATERIALIZED (
    SELECT cancellations.*, ${owner} AS owner, count(*) OVER (PARTITION BY ${owner}) AS siblings
    FROM cancellations LEFT JOIN workspaces ON workspaces.id = cancellations.workspace_id
    WHERE cancellations.id = ANY (ARRAY(SELECT id FROM due_rows))
  ),
  waiting_executions AS MATERIALIZED (
    SELECT some_executions.id, owned_cancellations.id AS cancellation_id, reason
    FROM owned_cancellations
    CROSS JOIN LATERAL (
      SELECT executions.id FROM executions LEFT JOIN rules ON rules.id = owned_cancellations.handler_id
      WHERE executions.handler_id = owned_cancellations.handler_id AND executions.workspace_id = owned_cancellations.workspace_id
        AND executions.status IN ('waiting', 'retrying') AND ${mayRun} IS NOT TRUE
      LIMIT ceil(${cancelledPerStatement}::float8 / (SELECT count(DISTINCT coalesce(owner, '')) FROM owned_cancellations) / siblings)::bigint
    ) AS some_executions
  ),
  locked_executions AS (
    SELECT id FROM executions WHERE id = ANY (ARRAY(SELECT id FROM waiting_executions)) FOR UPDATE SKIP LOCKED
  ),
  cancelled_executions AS (
    UPDATE executions
    SET status = 'cancelled', error = waiting_executions.reason, finished_at = clock_timestamp(), due_at = NULL, lease = NULL
    FROM waiting_executions JOIN locked_executions USING (id)
    WHERE executions.id = waiting_executions.id AND executions.status IN ('waiting', 'retrying')
    RETURNING executions.id
  ),
  removed_cancellations AS (
    DELETE FROM cancellations
    WHERE id = ANY (ARRAY(SELECT id FROM owned_cancellations))
      AND NOT EXISTS (SELECT FROM waiting_executions WHERE cancellation_id = cancellations.id)
    RETURNING cancellations.id
  )
  SELECT (SELECT count(*) FROM cancelled_executions)::int AS cancelled, (SELECT count(*) FROM removed_cancellations)::int AS removed`

/**
 * Cancels what changes have left to be cancelled, until nothing is left or the time is over. One worker does so at a time. It rests
 * as long as it works, with the lock: others find Postgres free half of the time.
 *
 * @returns how many executions were cancelled
 */
export async function continueCancellations(database: Database, isOver: () => boolean): Promise<number> {
  let sum = 0
  let restMs = 0
  while (!isOver()) {
    const batch = await database.system.$transaction(
      (transaction) => cancelBatch(transaction, restMs, isOver),
      { timeout: timeoutMs },
    )
    // Nothing is left, or only what others have locked.
    if (batch === undefined || batch.cancelled + batch.removed === 0) break
    sum += batch.cancelled
    restMs = Math.min(batch.tookMs, maxRestMs)
  }
  return sum
}

/** @returns undefined where another worker cancels, or the time is over after the rest */
async function cancelBatch(
  transaction: Pick<WorkspaceTransaction, '$queryRaw'>,
  restMs: number,
  isOver: () => boolean,
) {
  const [lock] = await transaction.$queryRaw<{ taken: boolean }[]>(
    Prisma.sql`SELECT pg_try_advisory_xact_lock(${cancellingLock}) AS taken`,
  )
  if (!lock?.taken) return undefined
  await delay(restMs)
  if (isOver()) return undefined
  const startedAt = performance.now()
  await planByIndex(transaction, true)
  const [row] = await transaction.$queryRaw<{ cancelled: number; removed: number }[]>(continueCancellation)
  return row && { ...row, tookMs: performance.now() - startedAt }
}
