import { type Statements, writeJson } from '@automation/database'
import { type CompiledPerKey, type KeyEvent, type KeyState, maxCounted, maxQueued } from '@automation/engine'
import { readBatches, type StoredBatch } from './batches.js'
import type { Place } from './key-claims.js'

/** An event that is recorded now, at its moment (epoch ms), and the key that it asks for. */
export interface Asked {
  keyId: string
  perKey: CompiledPerKey
  at: number
}

/** A key as it is known to a commit that has it to itself. */
export interface StoredKeyState extends KeyState {
  granted: KeyEvent[]
  counted: KeyEvent[]
  queue: KeyEvent[]
  batches: StoredBatch[]
  /** Counted where a batch may have to queue. */
  collecting: number
}

interface ClaimRow extends KeyEvent {
  keyId: string
  isGranted: boolean
  isCounted: boolean
  place: Place
  status: string | null
}

/**
 * What counts is read by its moment, and who holds the key or waits for it by its place. An execution that is over has lost its
 * place: `ended_claims` notes that, so that no place is read twice.
 *
 * Of the claims around an event the nearest are read, before and after it: no limit is higher, so more would decide nothing. Another version of the rule
 * may have granted any number.
 *
 * $1 ids of keys · $2 windows · $3 how many claims before and after an event · $4 those of the keys of which batches are counted · $5 how far
 */
const readKeyStatesSql = `
  WITH placed_claims AS (
    SELECT claims.key_id, claims.execution_id, claims.event_id, claims.accepted_at, claims.place, executions.status
    FROM (
      SELECT * FROM key_claims WHERE key_id = ANY ($1::uuid[]) AND place IN ('holds', 'queued')
      UNION ALL
      SELECT batches.* FROM unnest($4::uuid[]) AS keys (id)
      CROSS JOIN LATERAL (SELECT * FROM key_claims WHERE key_id = keys.id AND place = 'collects' LIMIT $5) AS batches
    ) AS claims
    LEFT JOIN executions ON executions.id = claims.execution_id
  ),
  ended_claims AS (
    UPDATE key_claims SET place = NULL
    FROM placed_claims
    WHERE key_claims.execution_id = placed_claims.execution_id
      AND coalesce(placed_claims.status NOT IN ('running', 'waiting', 'retrying'), true)
  )
  SELECT key_id AS "keyId", execution_id AS "executionId", event_id AS "eventId",
         round(date_part('epoch', accepted_at) * 1000) AS at, false AS "isGranted", false AS "isCounted", place, status
  FROM placed_claims WHERE status IN ('running', 'waiting', 'retrying')
  UNION
  SELECT windows.key_id, execution_id, event_id, round(date_part('epoch', accepted_at) * 1000), is_granted, is_counted, NULL, NULL
  FROM (
    SELECT key_id, of_granted, to_timestamp(from_ms / 1000)::timestamptz(3) AS since, to_timestamp(at_ms / 1000)::timestamptz(3) AS at,
           to_timestamp(to_ms / 1000)::timestamptz(3) AS until
    FROM json_to_recordset($2::json) AS input_windows (key_id uuid, of_granted boolean, from_ms float8, at_ms float8, to_ms float8)
  ) AS windows
  CROSS JOIN LATERAL (
    (SELECT * FROM key_claims
     WHERE key_id = windows.key_id AND accepted_at > windows.since AND accepted_at <= windows.at
       AND CASE WHEN of_granted THEN is_granted ELSE is_counted END
     ORDER BY accepted_at DESC LIMIT $3)
    UNION ALL
    (SELECT * FROM key_claims
     WHERE key_id = windows.key_id AND accepted_at > windows.at AND accepted_at < windows.until
       AND CASE WHEN of_granted THEN is_granted ELSE is_counted END
     ORDER BY accepted_at LIMIT $3)
  ) AS claims`

/** Reads keys under their locks. @param asked in the order of their moments */
export async function readKeyStates(
  statements: Statements,
  asked: readonly Asked[],
): Promise<Map<string, StoredKeyState>> {
  const states = new Map(
    asked.map(({ keyId }) => [
      keyId,
      { granted: [], counted: [], queue: [], batches: [], collecting: 0 } as StoredKeyState,
    ]),
  )
  const collecting = asked.filter(({ perKey }) => perKey.collect !== undefined)
  const queuing = collecting.filter(({ perKey }) => perKey.whileRunning === 'queue')
  const rows = await statements.run<ClaimRow>('read_key_states', readKeyStatesSql, [
    [...states.keys()],
    writeJson(windowsOf(asked)),
    maxCounted,
    [...new Set(queuing.map(({ keyId }) => keyId))],
    maxQueued,
  ])
  for (const { keyId, isGranted, isCounted, place, status, ...event } of rows) {
    const state = states.get(keyId)
    if (isGranted) state?.granted.push(event)
    if (isCounted) state?.counted.push(event)
    if (place === 'queued') state?.queue.push(event)
    else if (place === 'collects' && state) state.collecting += 1
    else if (place === 'holds' && state) state.holder = { ...event, isWaiting: status !== 'running' }
  }
  if (collecting.length > 0)
    for (const { keyId, ...batch } of await readBatches(statements, collecting))
      states.get(keyId)?.batches.push(batch)
  return states
}

/** Around each event of a key, as far as its neighbour, which has a window of its own. */
function windowsOf(asked: readonly Asked[]) {
  const keys = new Map<string, { moments: Set<number>; per: number; within: number }>()
  for (const { keyId, perKey, at } of asked) {
    const { moments, per, within } = keys.get(keyId) ?? { moments: new Set(), per: 0, within: 0 }
    keys.set(keyId, {
      moments: moments.add(at),
      per: Math.max(per, perKey.atMost?.per ?? 0),
      within: Math.max(within, perKey.atLeast?.within ?? 0),
    })
  }
  return [...keys].flatMap(([key_id, { moments, per, within }]) =>
    [...moments].flatMap((at_ms, index, ordered) => {
      const [before, after] = [ordered[index - 1] ?? -Infinity, ordered[index + 1] ?? Infinity]
      const of = (of_granted: boolean, length: number) => {
        const [from_ms, to_ms] = [Math.max(before, at_ms - length), Math.min(after, at_ms + length)]
        return length > 0 ? [{ key_id, of_granted, from_ms, at_ms, to_ms }] : []
      }
      return [...of(true, per), ...of(false, within)]
    }),
  )
}
