import { type Statements, writeJson } from '@automation/database'
import type { Batch, Suppression } from '@automation/engine'
import type { RecordableExecution } from '../outcomes/execution-record.js'

/**
 * The place of an execution at its key, for as long as it may keep the key from others:
 *
 *   collects ──▶ its batch ends ──▶ holds ──▶ null: its execution is over
 *                        │            ▲
 *                        └─▶ queued ──┘ those before it are over
 *
 * One without a batch begins at holds or queued. One that is only counted or granted has none.
 */
export type Place = 'holds' | 'queued' | 'collects' | null

/** What an event claims of its key. */
export interface NewClaim {
  execution: RecordableExecution
  keyId: string
  isGranted: boolean
  isCounted: boolean
  place: Place
  /** The batch that has the event. */
  batch: Batch | undefined
  /** Whether executions of the key exclude each other. */
  isExclusive: boolean
  /** How long (ms) from its moment on it matters. */
  windowMs: number
}

/** $1 claims · $2 executions whose events are used up */
const writeClaimsSql = `
  WITH consumed_claims AS (
    UPDATE key_claims SET is_counted = false WHERE execution_id = ANY ($2::uuid[])
  )
  INSERT INTO key_claims
    (execution_id, workspace_id, rule_id, key_id, event_id, accepted_at, is_granted, is_counted, place, is_exclusive, expires_at, batch_id, ends_at)
  SELECT execution_id, workspace_id, rule_id, key_id, event_id, to_timestamp(accepted_ms / 1000), is_granted, is_counted, place, is_exclusive,
         to_timestamp((accepted_ms + window_ms) / 1000), batch_id, to_timestamp(ends_ms / 1000)
  FROM json_to_recordset($1::json) AS claims (
    execution_id uuid, workspace_id uuid, rule_id uuid, key_id uuid, event_id uuid, accepted_ms float8, is_granted boolean,
    is_counted boolean, place text, is_exclusive boolean, window_ms float8, batch_id uuid, ends_ms float8)`

export async function writeClaims(
  statements: Statements,
  claims: readonly NewClaim[],
  consumed: readonly string[],
): Promise<void> {
  const rows = claims.map(({ execution: { record, event }, ...claim }) => ({
    execution_id: record.id,
    workspace_id: event.workspaceId,
    rule_id: record.handlerId,
    key_id: claim.keyId,
    event_id: event.id,
    accepted_ms: event.acceptedAt,
    is_granted: claim.isGranted,
    is_counted: claim.isCounted,
    place: claim.place,
    is_exclusive: claim.isExclusive,
    window_ms: claim.windowMs,
    batch_id: claim.batch?.openedBy.executionId,
    ends_ms: claim.place === 'collects' ? claim.batch?.endsAt : undefined,
  }))
  if (rows.length + consumed.length === 0) return
  await statements.run('write_claims', writeClaimsSql, [writeJson(rows), consumed])
}

export interface SuppressedExecution {
  execution: RecordableExecution
  suppression: Suppression
}

/** $1 executions */
const insertSuppressedSql = `
  INSERT INTO executions
    (id, workspace_id, event_id, event_type, handler_id, rule_version, status, results, suppression, started_at, finished_at)
  SELECT id, workspace_id, event_id, event_type, handler_id, rule_version, 'suppressed', '[]', suppression, to_timestamp(started_ms / 1000), now()
  FROM json_to_recordset($1::json) AS suppressed (
    id uuid, workspace_id uuid, event_id uuid, event_type text, handler_id uuid, rule_version int, suppression json, started_ms float8)`

/** Their events are finished in the same commit. They have no effects, and are not counted. */
export async function insertSuppressed(
  statements: Statements,
  suppressed: readonly SuppressedExecution[],
): Promise<void> {
  if (suppressed.length === 0) return
  const rows = suppressed.map(({ execution: { record, event }, suppression }) => ({
    id: record.id,
    workspace_id: event.workspaceId,
    event_id: event.id,
    event_type: event.type,
    handler_id: record.handlerId,
    rule_version: record.ruleVersion,
    suppression,
    started_ms: record.startedAt.getTime(),
  }))
  await statements.run('insert_suppressed', insertSuppressedSql, [writeJson(rows)])
}
