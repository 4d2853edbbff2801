import { type Database, writeJson } from '@automation/database'
import { type CarriedEvent, eventRow, type NewEvent } from './accept-events.js'

/** How long (hours) a key stands for its request: afterwards the same key is a new one. */
export const keyHours = 24

/** The identity of a request that its caller may send again. */
export interface RequestKey {
  workspaceId: string
  /** As the caller chose it. */
  key: string
  /** SHA-256 of the request, as hex: the same key with another request is refused. */
  requestHash: string
}

/** An event that is accepted unless its request was accepted before. */
export interface OnceOnly {
  request: RequestKey
  /** Of the request's workspace. */
  event: NewEvent
  /** The response to the request where nothing is waited for; null otherwise. */
  answer: object | null
}

/**
 * Of several requests with the same key, here or in other processes at the same moment, one inserts its event: the table's unique
 * key decides. A key that is older than its time counts as none.
 *
 * - Keys are inserted in their order: two processes that take the same keys in different orders would lock each other out.
 * - One of each: an insert may not meet its own rows.
 *
 * $1 requests with their events · $2 hours of a key
 */
const acceptOnceSql = `
  WITH input AS (
    SELECT * FROM json_to_recordset($1::json) AS input (
      id uuid, workspace_id uuid, type text, data json, addressee_kind addressee_kind, addressee_id uuid, replay_of uuid, chosen_rule_ids uuid[], job_id uuid,
      key text, request_hash bytea, answer json)
  ),
  taken_keys AS (
    INSERT INTO idempotency_keys AS known (workspace_id, key, request_hash, event_id, answer)
    SELECT DISTINCT ON (workspace_id, key) workspace_id, key, request_hash, id, answer
    FROM input
    ORDER BY workspace_id, key, id
    ON CONFLICT (workspace_id, key) DO UPDATE
    SET request_hash = excluded.request_hash, event_id = excluded.event_id, answer = excluded.answer, created_at = now()
    WHERE known.created_at < now() - make_interval(hours => $2::int)
    RETURNING event_id
  ),
  inserted_events AS (
    INSERT INTO events (id, workspace_id, type, data, addressee_kind, addressee_id, replay_of, chosen_rule_ids, job_id)
    SELECT id, workspace_id, type, data, addressee_kind, addressee_id, replay_of, chosen_rule_ids, job_id
    FROM input
    WHERE id IN (SELECT event_id FROM taken_keys)
  )
  SELECT event_id AS id FROM taken_keys`

/**
 * Accepts events of many callers in one statement, each together with the key of its request.
 *
 * @returns for each whether it was accepted now; false where its key was taken
 */
export async function acceptOnce(
  database: Database,
  inputs: (OnceOnly & CarriedEvent)[],
): Promise<boolean[]> {
  const accepted = await database.run<{ id: string }>('accept_once', acceptOnceSql, [
    writeJson(inputs.map(inputRow)),
    keyHours,
  ])
  const ids = new Set(accepted.map(({ id }) => id))
  return inputs.map(({ event }) => ids.has(event.id))
}

function inputRow({ request, answer, ...carried }: OnceOnly & CarriedEvent) {
  return {
    ...eventRow(carried),
    key: request.key,
    request_hash: `\\x${request.requestHash}`,
    answer,
  }
}
