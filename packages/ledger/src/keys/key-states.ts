import type { Statements } from '@automation/database'
import type { CompiledPerKey, KeyEvent, KeyState } from '@automation/engine'
import { readBatches, type StoredBatch } from './batches.js'

/** Of one key: the events of it that are recorded now, between these moments (epoch ms). */
export interface KeyToRead {
  keyId: string
  perKey: CompiledPerKey
  from: number
  to: number
}

/** A key as it is known to a commit that has it to itself. */
export interface StoredKeyState extends KeyState {
  granted: KeyEvent[]
  counted: KeyEvent[]
  queue: KeyEvent[]
  batches: StoredBatch[]
}

interface ClaimRow extends KeyEvent {
  keyId: string
  isGranted: boolean
  isCounted: boolean
  place: 'holds' | 'queued' | 'collects' | null
  status: string | null
}

/** So many of the claims in a window are read: more than its limits let through, which another version of the rule may have set. */
const maxRead = 1_000

/**
 * What counts is read by its moment, and who holds the key or waits for it by its place. An execution that is over has lost its place, whoever
 * ended it: `ended_claims` notes that, so that no place is read twice.
 *
 * $1 ids of keys, $2 from and $3 to of each · $4 how many claims of a window
 */
const readKeyStatesSql = `
  WITH placed_claims AS (
    SELECT claims.key_id, claims.execution_id, claims.event_id, claims.accepted_at, claims.place, executions.status
    FROM key_claims AS claims LEFT JOIN executions ON executions.id = claims.execution_id
    WHERE claims.key_id = ANY ($1::uuid[]) AND claims.place IS NOT NULL
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
  UNION ALL
  SELECT keys.id, claims.*, NULL, NULL
  FROM unnest($1::uuid[], $2::float8[], $3::float8[]) AS keys (id, from_ms, to_ms)
  CROSS JOIN LATERAL (
    SELECT execution_id, event_id, round(date_part('epoch', accepted_at) * 1000), is_granted, is_counted
    FROM key_claims
    WHERE key_id = keys.id AND accepted_at > to_timestamp(from_ms / 1000) AND accepted_at < to_timestamp(to_ms / 1000)
      AND (is_granted OR is_counted)
    ORDER BY accepted_at DESC LIMIT $4
  ) AS claims`

/** What is replaced must not be claimed meanwhile. $1 ids of keys */
const lockPlacedSql = `
  SELECT executions.id FROM executions
  WHERE id = ANY (ARRAY(SELECT execution_id FROM key_claims WHERE key_id = ANY ($1::uuid[]) AND place IS NOT NULL))
    AND due_at IS NOT NULL
  ORDER BY id FOR NO KEY UPDATE`

/** Reads keys under their locks. */
export async function readKeyStates(
  statements: Statements,
  keys: readonly KeyToRead[],
): Promise<Map<string, StoredKeyState>> {
  const windows = keys.map(({ perKey, from, to }) => {
    const length = Math.max(perKey.atMost?.per ?? 0, perKey.atLeast?.within ?? 0)
    return { from: from - length, to: to + length }
  })
  const replaced = keys.filter(({ perKey }) => perKey.whileRunning === 'replace')
  if (replaced.length > 0)
    await statements.run('lock_placed', lockPlacedSql, [replaced.map(({ keyId }) => keyId)])
  const rows = await statements.run<ClaimRow>('read_key_states', readKeyStatesSql, [
    keys.map(({ keyId }) => keyId),
    windows.map(({ from }) => from),
    windows.map(({ to }) => to),
    maxRead,
  ])
  const states = new Map(
    keys.map(({ keyId }) => [keyId, { granted: [], counted: [], queue: [], batches: [] } as StoredKeyState]),
  )
  for (const { keyId, isGranted, isCounted, place, status, ...event } of rows) {
    const state = states.get(keyId)
    if (isGranted) state?.granted.push(event)
    if (isCounted) state?.counted.push(event)
    if (place === 'queued') state?.queue.push(event)
    else if (place === 'holds' && state) state.holder = { ...event, isWaiting: status !== 'running' }
  }
  const collecting = keys.filter(({ perKey }) => perKey.collect !== undefined)
  if (collecting.length > 0)
    for (const { keyId, ...batch } of await readBatches(statements, collecting))
      states.get(keyId)?.batches.push(batch)
  return states
}
