import { type Database, idRangeOf, type Statements, writeJson } from '@automation/database'
import type { Batch } from '@automation/engine'
import { type WokenExecution, wokenColumnsSql } from '../waits/open-wait.js'
import { neverDue } from './never-due.js'
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

/** Of a key, in one commit: of events that are recorded late, many batches may be open that nobody has begun. */
const maxRead = 100

/**
 * Of the batches that end after the earliest event, those that end last.
 *
 * $1 keys, each with the moment of its earliest event · $2 how many of a key
 */
const readBatchesSql = `
  SELECT opening.key_id AS "keyId", opening.execution_id AS "executionId", opening.event_id AS "eventId",
         round(date_part('epoch', opening.accepted_at) * 1000) AS at, opening.rule_version AS "ruleVersion", members.size,
         round(date_part('epoch', members.last_at) * 1000) AS "lastAt", round(date_part('epoch', opening.ends_at) * 1000) AS "endsAt"
  FROM json_to_recordset($1::json) AS asked_keys (key_id uuid, at_ms float8)
  CROSS JOIN LATERAL (
    SELECT key_claims.*, executions.rule_version
    FROM key_claims JOIN executions ON executions.id = key_claims.execution_id AND executions.status = 'waiting'
    WHERE key_claims.key_id = asked_keys.key_id AND key_claims.place = 'collects'
      AND key_claims.ends_at > to_timestamp(asked_keys.at_ms / 1000)::timestamptz(3)
    ORDER BY key_claims.ends_at DESC LIMIT $2
  ) AS opening
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS size, max(accepted_at) AS last_at FROM key_claims WHERE batch_id = opening.execution_id) AS members
  ORDER BY opening.ends_at`

/**
 * Reads the batches of keys that may take these events, under the locks of the keys. One that a worker has claimed takes none.
 *
 * @param asked in the order of their moments
 */
export async function readBatches(
  statements: Statements,
  asked: readonly { keyId: string; at: number }[],
): Promise<(StoredBatch & { keyId: string })[]> {
  const earliest = new Map(asked.toReversed().map(({ keyId, at }) => [keyId, at]))
  const rows = await statements.run<BatchRow>('read_batches', readBatchesSql, [
    writeJson([...earliest].map(([key_id, at_ms]) => ({ key_id, at_ms }))),
    maxRead,
  ])
  return rows.map(({ keyId, at, eventId, executionId, ...batch }) => ({
    ...batch,
    keyId,
    openedBy: { at, eventId, executionId },
    storedEnd: batch.endsAt,
  }))
}

/** One that a worker has claimed meanwhile ends now. Another that has locked it is quick, and may leave it as it was. $1 batches · $2 and $3 the lowest and the highest id */
const moveBatchesSql = `
  WITH moved_batches AS (
    SELECT * FROM json_to_recordset($1::json) AS moved_batches (id uuid, ends_ms float8)
  ),
  moved_claims AS (
    UPDATE key_claims SET ends_at = to_timestamp(ends_ms / 1000) FROM moved_batches WHERE execution_id = moved_batches.id
  ),
  waiting_executions AS (
    SELECT id FROM executions
    WHERE id = ANY (ARRAY(SELECT id FROM moved_batches)) AND id >= $2::uuid AND id <= $3::uuid AND status = 'waiting'
    ORDER BY id FOR NO KEY UPDATE
  ),
  moved_executions AS (
    UPDATE executions SET due_at = to_timestamp(ends_ms / 1000)
    FROM moved_batches JOIN waiting_executions USING (id)
    WHERE executions.id = moved_batches.id AND executions.id >= $2::uuid AND executions.id <= $3::uuid
    RETURNING ${wokenColumnsSql}
  )
  SELECT * FROM moved_executions WHERE "dueAt" < now() + interval '1 minute'`

/** Stores the ends of batches that took events. @returns those that are due soon; the sweeper adds the jobs of the others */
export async function moveBatches(
  statements: Statements,
  batches: readonly StoredBatch[],
): Promise<WokenExecution[]> {
  if (batches.length === 0) return []
  const rows = batches.map(({ openedBy, endsAt }) => ({ id: openedBy.executionId, ends_ms: endsAt }))
  const values = [writeJson(rows), ...idRangeOf(rows.map(({ id }) => id))]
  return statements.run<WokenExecution>('move_batches', moveBatchesSql, values)
}

/**
 * Only a worker that still has the execution decides about it. One that is queued is given back, and asks again.
 *
 * $1 execution · $2 its lease · $3 key · $4 whether executions of the key exclude each other · $5 when one that is queued is due
 */
const closeBatchSql = `
  WITH held_executions AS (
    SELECT id FROM executions WHERE id = $1::uuid AND lease = $2::uuid FOR NO KEY UPDATE
  ),
  closed_claims AS (
    UPDATE key_claims SET place =
      CASE WHEN NOT $4::boolean THEN NULL
           WHEN EXISTS (
             SELECT FROM key_claims AS others JOIN executions ON executions.id = others.execution_id
             WHERE others.key_id = $3::uuid AND others.execution_id <> $1::uuid AND others.place IN ('holds', 'queued')
               AND executions.due_at IS NOT NULL)
           THEN 'queued' ELSE 'holds' END
    FROM held_executions
    WHERE execution_id = held_executions.id AND place IN ('collects', 'queued')
    RETURNING execution_id, place
  ),
  queued_executions AS (
    UPDATE executions SET status = 'waiting', due_at = $5, lease = NULL
    FROM closed_claims WHERE executions.id = $1::uuid AND closed_claims.place = 'queued'
  )
  SELECT coalesce(place <> 'queued', true) AS "isFree" FROM held_executions LEFT JOIN closed_claims ON true`

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
 * @returns false where the execution is not this worker's: others have its key, so it was given back and waits for it, or its lease is over
 */
export function closeBatch(
  database: Pick<Database, 'transact'>,
  { executionId, lease, keyId, isExclusive }: BatchToClose,
): Promise<boolean> {
  return withKeys(database, [`key ${keyId}`], async (statements) => {
    const values = [executionId, lease, keyId, isExclusive, neverDue]
    const [closed] = await statements.run<{ isFree: boolean }>('close_batch', closeBatchSql, values)
    return closed?.isFree === true
  })
}
