import type { Database, Statements } from '@automation/database'
import type { Batch } from '@automation/engine'
import type { WokenExecution } from '../waits/open-wait.js'
import { endOfTime } from './end-of-time.js'
import { withKeys } from './with-keys.js'

/** A batch that has not begun, of a version of its rule. */
export interface StoredBatch extends Batch {
  ruleVersion: number
  /** Its end as it is stored (epoch ms); undefined where the present commit opens it. */
  storedEnd: number | undefined
}

interface BatchRow {
  keyId: string
  executionId: string
  eventId: string
  at: number
  ruleVersion: number
  size: number
  lastAt: number
  endsAt: number
}

/** $1 ids of keys */
const readBatchesSql = `
  SELECT opening.key_id AS "keyId", opening.execution_id AS "executionId", opening.event_id AS "eventId",
         round(date_part('epoch', opening.accepted_at) * 1000) AS at, executions.rule_version AS "ruleVersion", members.size,
         round(date_part('epoch', members.last_at) * 1000) AS "lastAt", round(date_part('epoch', opening.ends_at) * 1000) AS "endsAt"
  FROM key_claims AS opening
  JOIN executions ON executions.id = opening.execution_id AND executions.status = 'waiting'
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS size, max(accepted_at) AS last_at FROM key_claims WHERE batch_id = opening.execution_id) AS members
  WHERE opening.key_id = ANY ($1::uuid[]) AND opening.place = 'collects'
  ORDER BY opening.ends_at`

/** Reads the batches of keys that take further events, under the locks of the keys. One that a worker has claimed takes none. */
export async function readBatches(
  statements: Statements,
  keys: readonly { keyId: string }[],
): Promise<(StoredBatch & { keyId: string })[]> {
  const rows = await statements.run<BatchRow>('read_batches', readBatchesSql, [
    keys.map(({ keyId }) => keyId),
  ])
  return rows.map(({ keyId, at, eventId, executionId, ...batch }) => ({
    ...batch,
    keyId,
    openedBy: { at, eventId, executionId },
    storedEnd: batch.endsAt,
  }))
}

/** One that is locked is claimed by a worker, and ends now. $1 batches */
const moveBatchesSql = `
  WITH moved_batches AS (
    SELECT * FROM json_to_recordset($1::json) AS moved_batches (id uuid, ends_ms float8)
  ),
  moved_claims AS (
    UPDATE key_claims SET ends_at = to_timestamp(ends_ms / 1000) FROM moved_batches WHERE execution_id = moved_batches.id
  ),
  waiting_executions AS (
    SELECT id FROM executions
    WHERE id = ANY (ARRAY(SELECT id FROM moved_batches)) AND status = 'waiting' FOR NO KEY UPDATE SKIP LOCKED
  ),
  moved_executions AS (
    UPDATE executions SET due_at = to_timestamp(ends_ms / 1000)
    FROM moved_batches JOIN waiting_executions USING (id) WHERE executions.id = moved_batches.id
    RETURNING executions.id, executions.event_id, executions.workspace_id, executions.due_at
  )
  SELECT moved.id AS "executionId", moved.event_id AS "eventId", moved.workspace_id AS "workspaceId", moved.due_at AS "dueAt",
         workspaces.created_by AS "createdBy"
  FROM moved_executions AS moved JOIN workspaces ON workspaces.id = moved.workspace_id
  WHERE moved.due_at < now() + interval '1 minute'`

/** Stores the ends of batches that took events. @returns those that are due soon; the sweeper adds the jobs of the others */
export async function moveBatches(
  statements: Statements,
  batches: readonly StoredBatch[],
): Promise<WokenExecution[]> {
  if (batches.length === 0) return []
  const rows = batches.map(({ openedBy, endsAt }) => ({ id: openedBy.executionId, ends_ms: endsAt }))
  return statements.run<WokenExecution>('move_batches', moveBatchesSql, [JSON.stringify(rows)])
}

/**
 * One that is claimed is not queued, unless the worker that queued it had lost its lease by then.
 *
 * $1 execution · $2 key · $3 whether executions of the key exclude each other
 */
const closeBatchSql = `
  UPDATE key_claims SET place =
    CASE WHEN NOT $3::boolean THEN NULL
         WHEN EXISTS (
           SELECT FROM key_claims AS others JOIN executions ON executions.id = others.execution_id
           WHERE others.key_id = $2::uuid AND others.execution_id <> $1::uuid AND others.place IN ('holds', 'queued')
             AND executions.due_at IS NOT NULL)
         THEN 'queued' ELSE 'holds' END
  WHERE execution_id = $1::uuid AND place IN ('collects', 'queued')
  RETURNING place`

/** $1 execution · $2 its lease · $3 when it is due */
const queueBatchSql = `
  UPDATE executions SET status = 'waiting', due_at = $3, lease = NULL WHERE id = $1::uuid AND lease = $2::uuid`

/** An execution that a worker has claimed. */
export interface BatchToClose {
  executionId: string
  lease: string
  keyId: string
  isExclusive: boolean
}

/**
 * Closes a batch, if that has not happened: under the lock of its key, so that each event is in it or opens the next one.
 *
 * @returns false where others have its key: the execution was given back, and waits for it
 */
export function closeBatch(
  database: Pick<Database, 'transact'>,
  { executionId, lease, keyId, isExclusive }: BatchToClose,
): Promise<boolean> {
  return withKeys(database, [`key ${keyId}`], async (statements) => {
    const [closed] = await statements.run<{ place: string | null }>('close_batch', closeBatchSql, [
      executionId,
      keyId,
      isExclusive,
    ])
    if (closed?.place !== 'queued') return true
    await statements.run('queue_batch', queueBatchSql, [executionId, lease, endOfTime])
    return false
  })
}
