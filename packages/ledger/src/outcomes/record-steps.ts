import { idRangeOf, type Statements } from '@automation/database'
import { isDelivery } from '../addressee.js'
import { leaseSeconds } from '../unfinished/leases.js'
import { capError, capResults } from './cap-results.js'
import { effectRowsOf, lengthOfExecution, writeEvents, writeRows, writeTasks } from './effect-rows.js'
import { type RecordableExecution, waitColumnsOf } from './execution-record.js'
import { findRecorded } from './find-recorded.js'
import { type FollowUps, pickIds, type ReturnedRow, readFollowUps } from './follow-ups.js'
import { effectsSql, stoppedExecutionsSql } from './parts-of-statements.js'

/** How far an execution has come, under the lease with which its worker holds it. */
export interface Step<Execution extends RecordableExecution = RecordableExecution> {
  execution: Execution
  lease: string
  /** How many of its results were settled when it went on: all that is kept where somebody has cancelled it. Default: all. */
  settled?: number
  /** As in Outcome. */
  isRepeated?: boolean
}

/**
 * Updates executions: an intent before a call, its result afterwards, a pause, or the end. Only the holder of the lease may. A
 * worker that has lost it, because another one claimed the execution, updates nothing.
 *
 * - An execution that pauses although it may not continue (may-run.ts) is cancelled: its rule or subscription was switched off, became a
 *   shadow or was deleted meanwhile. The locks order this against the change, as in finish-events.ts.
 * - Of an execution that somebody has cancelled, whatever the step is, the results are kept that were settled when the worker went on. What came
 *   after them in this step has no effect: no task, no event, and the call that it announces is not made, since no lease is left.
 * - An execution that begins to wait for a decision that is there already is due at once.
 * - A step that keeps its lease may be recorded twice: it was committed, and the response was lost. Then its row is updated again,
 *   so each effect is inserted unless it is there. One that gives its lease up is found as it was recorded (findRecorded).
 * - `interruptions` never rises here: a worker that is alive may have withdrawn its own meanwhile.
 * - `= ANY (ARRAY(…))` makes Postgres look executions up by id, however small it takes the table for, and the range only in the leaves of their time.
 *
 * $1 steps · $2 tasks · $3 emitted events · $4 seconds of a lease · $5 and $6 between which ids the executions lie
 */
const recordStepsSql = `
  WITH input_ids AS (
    SELECT * FROM json_to_recordset($1::json) AS input_ids (
      id uuid, handler_id uuid, is_delivery boolean, status execution_status, is_by_hand boolean)
  ),
  pausing_executions AS (
    SELECT * FROM input_ids WHERE status IN ('waiting', 'retrying')
  ),
  ${stoppedExecutionsSql},
  updated_executions AS (
    UPDATE executions SET
      status = CASE WHEN stopped.id IS NULL AND cancel_requested IS NULL THEN input_steps.status ELSE 'cancelled' END,
      error = CASE WHEN cancel_requested THEN coalesce(executions.error, 'It was cancelled') ELSE coalesce(stopped.reason, input_steps.error) END,
      results = CASE WHEN cancel_requested IS NULL THEN input_steps.results
                     ELSE coalesce(
                       (SELECT json_agg(
                          CASE WHEN result->>'status' <> 'running' THEN result
                               ELSE json_build_object('action', result->'action', 'status', 'pending', 'attempts', (
                                 SELECT coalesce(json_agg(attempt ORDER BY place), '[]')
                                 FROM json_array_elements(result->'attempts') WITH ORDINALITY AS made (attempt, place)
                                 WHERE coalesce(attempt->>'finishedAt', attempt->>'error') IS NOT NULL)) END
                          ORDER BY index)
                        FROM json_array_elements(input_steps.results) WITH ORDINALITY AS known (result, index)
                        WHERE index <= settled), '[]') END,
      finished_at = CASE WHEN stopped.id IS NULL AND cancel_requested IS NULL THEN to_timestamp(finished_ms / 1000) ELSE now() END,
      due_at = CASE WHEN stopped.id IS NOT NULL OR cancel_requested THEN NULL
                    WHEN input_steps.wait_key = input_steps.id AND decision IS NOT NULL THEN now()
                    WHEN input_steps.lease IS NULL THEN to_timestamp(due_ms / 1000)
                    ELSE now() + make_interval(secs => $4::float8) END,
      lease = CASE WHEN cancel_requested IS NULL THEN input_steps.lease END,
      awaits_slot = input_steps.awaits_slot,
      wait_key = input_steps.wait_key,
      wait_type = CASE WHEN executions.wait_type = 'DECISION' THEN 'DECISION' ELSE input_steps.wait_type END,
      wait_seen = input_steps.wait_seen,
      interruptions = least(executions.interruptions, input_steps.interruptions),
      lost_leases = CASE WHEN input_steps.interruptions > 0 THEN lost_leases END
    FROM json_to_recordset($1::json) AS input_steps (
      id uuid, held uuid, is_delivery boolean, status execution_status, results json, error text, finished_ms float8,
      due_ms float8, lease uuid, awaits_slot boolean, interruptions int, attention text, settled int, wait_key uuid,
      wait_type text, wait_seen bigint)
    LEFT JOIN stopped_executions AS stopped ON stopped.id = input_steps.id
    WHERE executions.id = input_steps.id AND executions.lease = input_steps.held
      AND executions.id = ANY (ARRAY(SELECT id FROM input_ids)) AND executions.id >= $5::uuid AND executions.id <= $6::uuid
    RETURNING executions.id, workspace_id, event_id, event_type, executions.handler_id, input_steps.is_delivery,
              executions.status, executions.error, finished_at, input_steps.attention, cancel_requested,
              executions.status = 'waiting' AND executions.wait_key = executions.id AND decision IS NOT NULL AS is_decided
  ),
  recorded_executions AS (
    SELECT * FROM updated_executions WHERE cancel_requested IS NULL
  ),
  ${effectsSql}
  SELECT CASE WHEN cancel_requested THEN 'withdrawn' WHEN status = 'cancelled' THEN 'cancelled' ELSE 'recorded' END AS what, id,
         NULL::uuid AS "workspaceId", NULL::uuid AS "subjectId", NULL::float8 AS failures
  FROM updated_executions
  UNION ALL
  SELECT 'decided', id, NULL, NULL, NULL FROM recorded_executions WHERE is_decided
  UNION ALL
  SELECT 'delivery', id, workspace_id, addressee_id, NULL FROM inserted_deliveries
  UNION ALL
  SELECT 'failing', NULL, workspace_id, rule_id, consecutive_failures FROM updated_counters WHERE consecutive_failures > 0`

export interface Recorded {
  /** For each step whether it was recorded; false where the worker has lost the lease. */
  recorded: boolean[]
  followUps: FollowUps | undefined
  /** For noteStored. */
  rows: ReturnedRow[]
}

/**
 * Records steps, those of many executions in one statement.
 *
 * @param steps one of each execution: tasks and emitted events are joined by its id alone, and not by the lease
 */
export async function recordSteps(database: Statements, steps: Step[]): Promise<Recorded> {
  const executions = steps.map(({ execution }) => execution)
  const { tasks, events } = effectRowsOf(executions)
  const rows = await database.run<ReturnedRow>('record_steps', recordStepsSql, [
    await writeRows(steps, stepRow, ({ execution }) => lengthOfExecution(execution)),
    await writeTasks(tasks),
    await writeEvents(events),
    leaseSeconds,
    ...idRangeOf(executions.map(({ record }) => record.id)),
  ])
  const ids = pickIds(rows, 'recorded', 'cancelled', 'withdrawn')
  const unheard = steps.filter(({ execution: { record }, isRepeated }) => isRepeated && !ids.has(record.id))
  // As in finishEvents.
  if (unheard.length > 0) for (const step of steps) step.isRepeated = true
  const repeated = await findRecorded(
    database,
    unheard.map(({ execution }) => execution),
  )
  for (const { record } of repeated) ids.add(record.id)
  const recorded = executions.map(({ record }) => ids.has(record.id))
  return { recorded, followUps: readFollowUps(rows, executions, repeated), rows }
}

function stepRow({ execution: { record, event }, lease, settled = record.results.length }: Step) {
  return {
    id: record.id,
    held: lease,
    handler_id: record.handlerId,
    is_delivery: isDelivery(event.addressee),
    status: record.status,
    results: capResults(record.results),
    error: capError(record.error),
    finished_ms: record.finishedAt?.getTime(),
    due_ms: record.dueAt?.getTime(),
    lease: record.lease,
    awaits_slot: record.awaitsSlot || undefined,
    interruptions: record.interruptions,
    attention: record.attention,
    is_by_hand: event.addressee?.kind === 'rule',
    settled,
    ...waitColumnsOf(record),
  }
}
