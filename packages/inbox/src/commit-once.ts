import type { Database } from '@automation/database'
import type { CarriedEvent, NewEvent } from './commit-acceptances.js'

/** For how long a key stands for its request: afterwards the same key is a new one. */
export const keyHours = 24

/** What names a request that its caller may send again. */
export interface RequestKey {
  workspaceId: string
  /** As the caller chose it. */
  key: string
  /** SHA-256 of the request, as hex: the same key with another one is refused. */
  requestHash: string
}

/** An event that is accepted unless its request was already. */
export interface OnceOnly {
  request: RequestKey
  /** Of the request's workspace. */
  event: NewEvent
  /** What the request is answered as soon as it is accepted, where nothing is waited for. */
  answer: object | null
}

/**
 * Commits events of many callers in one statement, each together with the key of its request. Of requests with the same
 * key, here or in other processes at the same moment, one adds its event: the table's unique key decides. A key that is
 * older than its time counts as none.
 *
 * @returns for each whether it was accepted now, false where its key was taken
 */
export async function commitOnce(
  database: Database,
  wanted: (OnceOnly & CarriedEvent)[],
): Promise<boolean[]> {
  const accepted = await database.run<{ id: string }>('commit_once', statement, [
    JSON.stringify(wanted.map(rowOf)),
  ])
  const ids = new Set(accepted.map(({ id }) => id))
  return wanted.map(({ event }) => ids.has(event.id))
}

// Sorted: two processes that take the same keys in different orders would wait for each other for ever. And one of each:
// an insert may not meet its own rows.
const statement = `
  WITH new AS (
    SELECT * FROM json_to_recordset($1::json) AS new (
      id uuid, workspace_id uuid, type text, data json, rule_id uuid, replay_of uuid, job_id uuid,
      key text, request_hash bytea, answer json)
  ), taken AS (
    INSERT INTO idempotency_keys AS known (workspace_id, key, request_hash, event_id, answer)
    SELECT DISTINCT ON (workspace_id, key) workspace_id, key, request_hash, id, answer
    FROM new
    ORDER BY workspace_id, key, id
    ON CONFLICT (workspace_id, key) DO UPDATE
    SET request_hash = excluded.request_hash, event_id = excluded.event_id, answer = excluded.answer, created_at = now()
    WHERE known.created_at < now() - interval '${keyHours} hours'
    RETURNING event_id
  ), event AS (
    INSERT INTO events (id, workspace_id, type, data, rule_id, replay_of, job_id)
    SELECT id, workspace_id, type, data, rule_id, replay_of, job_id
    FROM new
    WHERE id IN (SELECT event_id FROM taken)
  )
  SELECT event_id AS id FROM taken`

function rowOf({ request, event, jobId, answer }: OnceOnly & CarriedEvent) {
  return {
    id: event.id,
    workspace_id: request.workspaceId,
    type: event.type,
    data: event.data,
    rule_id: event.ruleId,
    replay_of: event.replayOf,
    job_id: jobId,
    key: request.key,
    request_hash: `\\x${request.requestHash}`,
    answer,
  }
}
