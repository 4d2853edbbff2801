import { idRangeOf, type Statements, writeJson } from '@automation/database'
import { openWaitOf, type RecordableExecution } from '../outcomes/execution-record.js'
import type { Outcome } from '../outcomes/finish-events.js'
import {
  maxOpenWaits,
  type OpenWait,
  tooManySeen,
  type WokenExecution,
  wokenColumnsSql,
} from '../waits/open-wait.js'
import { wakeWaits } from '../waits/wake-waits.js'

/** The locks that a commit needs for its waits: those of the keys of its events, and of what its executions begin to wait for. */
export function waitLocksOf(
  outcomes: readonly Pick<Outcome, 'waitKeys'>[],
  executions: readonly RecordableExecution[],
): string[] {
  const keys = outcomes.flatMap(({ waitKeys = [] }) => waitKeys)
  for (const execution of executions) {
    const wait = openWaitOf(execution.record)
    if (wait !== undefined) keys.push(wait.key)
  }
  return keys.map((key) => `wait ${key}`)
}

/**
 * Lets events and waits find each other, in the transaction that records them and under the locks of their keys (withKeys). An event leaves its keys and
 * wakes what waits for them; an execution that begins to wait is due at once if it has missed one. Whichever commits second sees the other. What is
 * woken looks by itself which event ends its wait, so this decides nothing.
 *
 * @param outcomes those that this transaction has finished
 */
export async function settleWaits(
  statements: Statements,
  outcomes: readonly Outcome[],
  executions: readonly RecordableExecution[],
): Promise<WokenExecution[]> {
  const keys = outcomes.flatMap(({ event, waitKeys = [] }) =>
    waitKeys.map((key) => {
      return { workspace_id: event.workspaceId, key, event_id: event.id, accepted_ms: event.acceptedAt }
    }),
  )
  const waits = executions.flatMap((execution) => {
    const wait = openWaitOf(execution.record)
    return wait === undefined ? [] : [waitRow(execution.record.id, wait)]
  })
  const woken: WokenExecution[] = []
  if (keys.length > 0) {
    const values = [writeJson(keys)]
    const waking = await statements.run<{ id: string }>('note_event_keys', noteEventKeysSql, values)
    const ids = waking.map(({ id }) => id)
    if (ids.length > 0) woken.push(...(await wakeWaits(statements, ids)))
  }
  if (waits.length > 0) {
    const values = [writeJson(waits), maxOpenWaits, tooManySeen, ...idRangeOf(waits.map(({ id }) => id))]
    woken.push(...(await statements.run<WokenExecution>('wake_late_waits', wakeLateWaitsSql, values)))
  }
  return woken
}

function waitRow(id: string, { key, eventType, seen, after, until }: OpenWait) {
  return { id, key, type: eventType, seen, after_ms: after.acceptedAt, after_id: after.id, until_ms: until }
}

/** Returns the keys for which something waits. $1 keys of events */
const noteEventKeysSql = `
  WITH inserted_keys AS (
    INSERT INTO event_keys (workspace_id, key, event_id, accepted_at, is_waking)
    SELECT workspace_id, key, event_id, to_timestamp(accepted_ms / 1000), EXISTS (
      SELECT FROM executions
      WHERE executions.wait_key = input_keys.key AND executions.status = 'waiting' AND executions.due_at > now())
    FROM json_to_recordset($1::json) AS input_keys (workspace_id uuid, key uuid, event_id uuid, accepted_ms float8)
    ON CONFLICT (event_id, key) DO NOTHING
    RETURNING id, is_waking
  )
  SELECT id::text AS id FROM inserted_keys WHERE is_waking`

/**
 * Also one whose rule is so young that an event may have been done before it: that one left no key, so the execution looks for it
 * (find-ending-events.ts). One that has looked already asks for newer keys only, in their order. One that begins where too many wait is woken to fail.
 *
 * $1 executions that wait · $2 how many may wait for a key · $3 what one beyond has seen · $4 and $5 the lowest and the highest id
 */
const wakeLateWaitsSql = `
  WITH input_waits AS (
    SELECT id, key, type, seen, after_id, to_timestamp(after_ms / 1000)::timestamptz(3) AS after_at,
           to_timestamp(until_ms / 1000)::timestamptz(3) AS until
    FROM json_to_recordset($1::json) AS input_waits (
      id uuid, key uuid, type text, seen bigint, after_ms float8, after_id uuid, until_ms float8)
  ),
  full_keys AS (
    SELECT key FROM (SELECT DISTINCT key FROM input_waits WHERE seen < 0) AS keys
    WHERE (
      SELECT count(*) FROM (
        SELECT FROM executions WHERE wait_key = keys.key AND status = 'waiting' LIMIT $2::int + 1) AS open_waits) > $2::int
  )
  UPDATE executions SET
    due_at = now(),
    wait_key = CASE WHEN full_keys.key IS NULL THEN wait_key END,
    wait_seen = CASE WHEN full_keys.key IS NULL THEN wait_seen ELSE $3::bigint END
  FROM input_waits LEFT JOIN full_keys ON full_keys.key = input_waits.key AND input_waits.seen < 0
  WHERE executions.id = input_waits.id AND executions.status = 'waiting'
    AND executions.id = ANY (ARRAY(SELECT id FROM input_waits)) AND executions.id >= $4::uuid AND executions.id <= $5::uuid
    AND (
      full_keys.key IS NOT NULL
      OR input_waits.seen < 0 AND EXISTS (
        SELECT FROM event_keys
        WHERE event_keys.key = input_waits.key
          AND event_keys.accepted_at BETWEEN input_waits.after_at AND input_waits.until
          AND (event_keys.accepted_at, event_keys.event_id) > (input_waits.after_at, input_waits.after_id))
      OR input_waits.seen >= 0 AND EXISTS (
        SELECT FROM (
          SELECT accepted_at, event_id FROM event_keys
          WHERE key = input_waits.key AND id > input_waits.seen ORDER BY id OFFSET 0) AS newer
        WHERE newer.accepted_at BETWEEN input_waits.after_at AND input_waits.until
          AND (newer.accepted_at, newer.event_id) > (input_waits.after_at, input_waits.after_id))
      OR input_waits.seen < 0 AND EXISTS (
        SELECT FROM rule_versions
        WHERE rule_versions.rule_id = executions.handler_id AND rule_versions.version = executions.rule_version
          AND rule_versions.created_at > input_waits.after_at - interval '1 minute'))
  RETURNING ${wokenColumnsSql}`
