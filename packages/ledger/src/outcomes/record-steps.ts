import type { Statements } from '@automation/database'
import { isDelivery } from '../addressee.js'
import { leaseSeconds } from '../unfinished/leases.js'
import { capError, capResults } from './cap-results.js'
import { effectRowsOf, lengthOfExecution, writeEvents, writeRows, writeTasks } from './effect-rows.js'
import { type RecordableExecution, waitColumnsOf } from './execution-record.js'
import { findRecorded } from './find-recorded.js'
import { type FollowUps, pickIds, type ReturnedRow, readFollowUps } from './follow-ups.js'

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
 * - A step that keeps its lease may be recorded twice: it was committed, and the response was lost. Then its row is updated again,
 *   so each effect is inserted unless it is there. One that gives its lease up is found as it was recorded (findRecorded).
 * - `interruptions` never rises here: a worker that is alive may have withdrawn its own meanwhile.
 * - `= ANY (ARRAY(…))` makes Postgres look executions up by id, however small it takes the table for.
 *
 * $1 steps · $2 tasks · $3 emitted events · $4 seconds of a lease
 */
const recordStepsSql = `
  WITH input_ids AS (
    SELECT * FROM json_to_recordset($1::json) AS input_ids (
      id uuid, rule_id uuid, is_delivery boolean, status execution_status, is_by_hand boolean)
  ),
  pausing_executions AS (
    SELECT * FROM input_ids WHERE status IN ('waiting', 'retrying')
  ),
  -- stopped executions: the same text in finish-events.ts and record-steps.ts (statements.test.ts)
  locked_owners AS (
    SELECT * FROM (
      SELECT id, is_active, mode FROM rules
      WHERE id = ANY (ARRAY(SELECT rule_id FROM pausing_executions WHERE NOT is_delivery))
      ORDER BY id FOR NO KEY UPDATE) AS locked_rules
    UNION ALL
    SELECT * FROM (
      SELECT id, is_active, 'shadow' FROM subscriptions
      WHERE id = ANY (ARRAY(SELECT rule_id FROM pausing_executions WHERE is_delivery))
      ORDER BY id FOR NO KEY UPDATE) AS locked_subscriptions
  ),
  stopped_executions AS (
    SELECT pausing.id,
           CASE WHEN is_delivery THEN 'The subscription was switched off' ELSE 'The rule was switched off' END AS reason
    FROM pausing_executions AS pausing LEFT JOIN locked_owners AS rules ON rules.id = rule_id
    WHERE (rules.is_active OR (pausing.is_by_hand AND rules.mode <> 'shadow')) IS NOT TRUE
  ),
  -- end of the stopped executions
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
      AND executions.id = ANY (ARRAY(SELECT id FROM input_ids))
    RETURNING executions.id, workspace_id, event_id, event_type, executions.rule_id, input_steps.is_delivery,
              executions.status, executions.error, finished_at, input_steps.attention, cancel_requested
  ),
  recorded_executions AS (
    SELECT * FROM updated_executions WHERE cancel_requested IS NULL
  ),
  -- effects of the recorded executions: the same text in finish-events.ts and record-steps.ts (statements.test.ts)
  -- tasks of the recorded executions: the same text in finish-events.ts, finish-successes.ts and record-steps.ts
  inserted_tasks AS (
    INSERT INTO tasks
      (id, workspace_id, execution_id, action_index, rule_id, title, description, assignee_id, priority, due_at,
       created_at)
    SELECT i.id, i.workspace_id, i.execution_id, i.action_index, i.rule_id, i.title, i.description, i.assignee_id, i.priority,
           to_timestamp(i.due_ms / 1000), to_timestamp(i.created_ms / 1000)
    FROM json_to_recordset($2::json) AS i (
      id uuid, workspace_id uuid, execution_id uuid, action_index int, rule_id uuid, title text, description text,
      assignee_id text, priority text, due_ms float8, created_ms float8)
    JOIN recorded_executions ON recorded_executions.id = i.execution_id
    ON CONFLICT (execution_id, action_index) DO NOTHING
  ),
  -- end of the tasks
  inserted_events AS (
    -- The transaction may have waited for keys: an event from before the wait would come after the end of a WAIT's time.
    INSERT INTO events (id, workspace_id, type, data, accepted_at, depth, caused_by, root_id, job_id)
    SELECT new_events.id, new_events.workspace_id, new_events.type, new_events.data, (SELECT clock_timestamp()), new_events.depth,
           new_events.caused_by, new_events.root_id, new_events.job_id
    FROM json_to_recordset($3::json) AS new_events (
      id uuid, workspace_id uuid, type text, data json, depth int, caused_by uuid, root_id uuid, job_id uuid)
    JOIN recorded_executions ON recorded_executions.id = new_events.caused_by
    ON CONFLICT (id) DO NOTHING
  ),
  inserted_deliveries AS (
    INSERT INTO events (id, workspace_id, type, data, rule_id, is_delivery)
    SELECT
      -- A UUID v8 in the order of time that follows from the failure and the subscription: each failure is delivered once.
      (SELECT (left(time, 8) || '-' || right(time, 4) || '-8' || left(digest, 3) || '-8' || substr(digest, 4, 3) || '-'
               || right(digest, 12))::uuid
       FROM (SELECT lpad(to_hex((extract(epoch FROM r.finished_at) * 1000)::bigint), 12, '0') AS time,
                    md5(r.id::text || s.id::text || r.finished_at::text) AS digest) AS parts),
      r.workspace_id,
      'execution.failed',
      json_build_object('executionId', r.id, 'ruleId', r.rule_id, 'eventId', r.event_id, 'eventType', r.event_type,
        'error', r.error, 'failedAt', to_char(r.finished_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')),
      s.id,
      true
    FROM recorded_executions r
    JOIN subscriptions s
      ON s.workspace_id = r.workspace_id AND s.is_active AND 'execution.failed' = ANY (s.event_types)
    WHERE r.status = 'failed' AND NOT r.is_delivery
    ON CONFLICT (id) DO NOTHING
    RETURNING id, workspace_id, rule_id
  ),
  counted_executions AS (
    SELECT *, row_number() OVER (PARTITION BY rule_id ORDER BY finished_at, id) AS position
    FROM recorded_executions
    WHERE status IN ('succeeded', 'failed')
  ),
  ranked_executions AS (
    SELECT *, coalesce(max(position) FILTER (WHERE status = 'succeeded') OVER (PARTITION BY rule_id), 0) AS last_success
    FROM counted_executions
  ),
  rule_totals AS (
    SELECT rule_id,
           count(*) FILTER (WHERE status = 'succeeded') AS successes,
           count(*) FILTER (WHERE status = 'failed') AS failures,
           count(*) FILTER (WHERE status = 'failed' AND position > last_success) AS failures_since,
           max(finished_at) FILTER (WHERE status = 'succeeded') AS success_at,
           max(finished_at) FILTER (WHERE status = 'failed') AS failure_at,
           min(finished_at) FILTER (WHERE status = 'failed' AND position > last_success) AS failing_since,
           (array_agg(error ORDER BY position DESC) FILTER (WHERE status = 'failed'))[1] AS error,
           (array_agg(attention ORDER BY position DESC) FILTER (WHERE attention IS NOT NULL))[1] AS attention
    FROM ranked_executions
    GROUP BY rule_id
  ),
  -- locked counters: the same text in finish-events.ts, finish-successes.ts and record-steps.ts
  locked_counters AS (
    SELECT rule_id FROM rule_counters WHERE rule_id IN (SELECT rule_id FROM rule_totals) ORDER BY rule_id FOR UPDATE
  ),
  -- end of the locked counters
  updated_counters AS (
    UPDATE rule_counters AS counters SET
      success_count = counters.success_count + rule_totals.successes,
      failure_count = counters.failure_count + rule_totals.failures,
      consecutive_failures =
        CASE WHEN rule_totals.successes > 0 THEN rule_totals.failures_since
             ELSE counters.consecutive_failures + rule_totals.failures END,
      last_success_at = greatest(counters.last_success_at, rule_totals.success_at),
      last_failure_at = greatest(counters.last_failure_at, rule_totals.failure_at),
      failing_since =
        CASE WHEN rule_totals.successes > 0 OR counters.consecutive_failures = 0 THEN rule_totals.failing_since
             ELSE counters.failing_since END,
      -- Of the failure at last_failure_at, also where an earlier one is recorded later.
      last_error = CASE WHEN rule_totals.error IS NULL OR counters.last_failure_at > rule_totals.failure_at THEN counters.last_error
                        ELSE rule_totals.error END,
      -- A reason to pause the rule stays until somebody changes or activates it (clearAttention).
      attention_reason =
        CASE WHEN rule_totals.attention IS NULL OR counters.attention_reason IN ('auto_paused', 'worker_crashes', 'work_budget')
             THEN counters.attention_reason ELSE rule_totals.attention END,
      attention_at =
        CASE WHEN rule_totals.attention IS NULL
               OR counters.attention_reason IN ('auto_paused', 'worker_crashes', 'work_budget')
                  AND counters.attention_reason <> rule_totals.attention
             THEN counters.attention_at ELSE rule_totals.failure_at END
    FROM rule_totals JOIN locked_counters USING (rule_id)
    WHERE counters.rule_id = rule_totals.rule_id
    RETURNING counters.workspace_id, counters.rule_id, counters.consecutive_failures
  )
  -- end of the effects
  SELECT CASE WHEN cancel_requested THEN 'withdrawn' WHEN status = 'cancelled' THEN 'cancelled' ELSE 'recorded' END AS what, id,
         NULL::uuid AS "workspaceId", NULL::uuid AS "subjectId", NULL::float8 AS failures
  FROM updated_executions
  UNION ALL
  SELECT 'delivery', id, workspace_id, rule_id, NULL FROM inserted_deliveries
  UNION ALL
  SELECT 'failing', NULL, workspace_id, rule_id, consecutive_failures FROM updated_counters WHERE consecutive_failures > 0`

export interface Recorded {
  /** For each step whether it was recorded; false where the worker has lost the lease. */
  recorded: boolean[]
  followUps: FollowUps | undefined
  /** For noteCancelled. */
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
    rule_id: record.ruleId,
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
    is_by_hand: event.addressee !== null,
    settled,
    ...waitColumnsOf(record),
  }
}
