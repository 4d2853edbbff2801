import type { Statements } from '@automation/database'
import { isDelivery } from '../addressee.js'
import { capResults } from './cap-results.js'
import { lengthOfExecution, type TaskRow, writeRows, writeTasks } from './effect-rows.js'
import type { RecordableExecution } from './execution-record.js'
import type { ReturnedRow } from './follow-ups.js'
import { finishedEventsSql, insertedTasksSql, lockedCountersSql } from './parts-of-statements.js'

/**
 * Does what the statement in finish-events.ts does, where every execution has succeeded and none has emitted an event. That is almost always
 * so, and it takes less of Postgres' time: each part of a statement has a cost, even without rows.
 *
 * $1 executions · $2 tasks · $3 events · $4 and $5 between which ids these lie
 */
const finishSuccessesSql = `
  WITH input_events AS (
    SELECT * FROM json_to_recordset($3::json) AS input_events (
      id uuid, rule_set_id uuid, rules_version int, outranked json)
  ),
  ${finishedEventsSql},
  recorded_executions AS (
    INSERT INTO executions
      (id, workspace_id, event_id, event_type, handler_id, is_delivery, rule_version, status, results, started_at,
       finished_at)
    SELECT i.id, e.workspace_id, i.event_id, e.type, i.handler_id, i.is_delivery, i.rule_version, 'succeeded', i.results,
           to_timestamp(i.started_ms / 1000), to_timestamp(i.finished_ms / 1000)
    FROM json_to_recordset($1::json) AS i (
      id uuid, event_id uuid, handler_id uuid, is_delivery boolean, rule_version int, results json, started_ms float8,
      finished_ms float8)
    JOIN finished_events e ON e.id = i.event_id
    ON CONFLICT (id) DO NOTHING
    RETURNING id, handler_id, finished_at
  ),
  ${insertedTasksSql},
  rule_totals AS (
    SELECT handler_id AS rule_id, count(*) AS successes, max(finished_at) AS success_at FROM recorded_executions GROUP BY handler_id
  ),
  ${lockedCountersSql},
  updated_counters AS (
    UPDATE rule_counters AS counters SET
      success_count = counters.success_count + rule_totals.successes,
      consecutive_failures = 0,
      last_success_at = greatest(counters.last_success_at, rule_totals.success_at)
    FROM rule_totals JOIN locked_counters USING (rule_id)
    WHERE counters.rule_id = rule_totals.rule_id
  )
  SELECT 'overtaken' AS what, id, NULL::uuid AS "workspaceId", NULL::uuid AS "subjectId", NULL::float8 AS failures
  FROM input_events WHERE NOT EXISTS (SELECT 1 FROM finished_events WHERE finished_events.id = input_events.id)`

/** Whether finishSuccesses records all that executions have done. */
export function areSuccesses(executions: RecordableExecution[]): boolean {
  return executions.every(
    ({ record: { status, error, attention, lease, dueAt }, emitted }) =>
      status === 'succeeded' && (error ?? attention ?? lease ?? dueAt) === null && emitted.length === 0,
  )
}

/**
 * Finishes events whose executions have succeeded.
 *
 * @param events the rows of the events, as JSON, and between which ids they lie
 * @param tasks the rows of the tasks that the executions create
 */
export async function finishSuccesses(
  database: Statements,
  events: { rows: string; range: [lowest: string, highest: string] },
  executions: RecordableExecution[],
  tasks: TaskRow[],
): Promise<ReturnedRow[]> {
  return database.run<ReturnedRow>('finish_successes', finishSuccessesSql, [
    await writeRows(executions, successRow, lengthOfExecution),
    await writeTasks(tasks),
    events.rows,
    ...events.range,
  ])
}

function successRow({ record, event }: RecordableExecution) {
  return {
    id: record.id,
    event_id: event.id,
    handler_id: record.handlerId,
    is_delivery: isDelivery(event.addressee),
    rule_version: record.ruleVersion,
    results: capResults(record.results),
    started_ms: record.startedAt.getTime(),
    finished_ms: record.finishedAt?.getTime(),
  }
}
