import type { Statements } from '@automation/database'
import { isDelivery } from '../addressee.js'
import { writeOutranked } from '../evaluations.js'
import { leaseSeconds } from '../unfinished/leases.js'
import type { LoadedEvent } from '../unfinished/load-events.js'
import { capError, capResults } from './cap-results.js'
import { effectRowsOf, lengthOfExecution, writeEvents, writeRows, writeTasks } from './effect-rows.js'
import { type RecordableExecution, waitColumnsOf } from './execution-record.js'
import { findRecorded } from './find-recorded.js'
import { areSuccesses, finishSuccesses } from './finish-successes.js'
import { type FollowUps, pickIds, type ReturnedRow, readFollowUps } from './follow-ups.js'

/** An event that a worker ran, with the executions of the rules that match, finished or not. */
export interface Outcome<Execution extends RecordableExecution = RecordableExecution> {
  event: LoadedEvent
  /** The rules considered; null where there was none. */
  ruleSetId: string | null
  /** Of the workspace, as it stood when the rules were read. */
  rulesVersion: number
  executions: Execution[]
  /** Places in the rule set: of the rules that matched and did not run, and of the ones that did. */
  outranked?: ReadonlyMap<number, number> | null
  /** What it has that a WAIT may wait for (waitKeyOf). Then it is finished by finishKeyedEvents. */
  waitKeys?: readonly string[]
  /** Whether it may have been recorded before, by a statement without a response: then it was not overtaken by itself (findRecorded). */
  isRepeated?: boolean
}

/**
 * Marks events done and inserts what they caused. Everything follows from `finished_events`, the rows that *this* statement
 * turned. An event that another delivery of its job finished first contributes nothing: no execution, no count, no task, and no
 * call, since the lease of none of its executions is returned.
 *
 * - Postgres does not know yet of a fresh backlog and would read all of it. `= ANY (ARRAY(…))` makes it look events up by id.
 * - An execution that is to wait may only if its rule or subscription is still on: a change that switches it off is either seen here, and the
 *   execution is cancelled, or it waits for this commit and then cancels the execution (cancelWaiting). The lock on their rows makes that
 *   order, and only a statement with such an execution takes it. FOR SHARE would let commits of several workers pass the waiting change.
 * - Locks are taken in one order: events, rules, subscriptions, counters, each in the order of their ids. So two workers never wait for each
 *   other, and no change of rules does (lockRules in packages/rules).
 * - A finished execution counts once, and a cancelled one does not: counters are the finished rows, counted.
 * - Counters of a rule that was deleted meanwhile are gone with it; its executions stay as history.
 *
 * $1 executions · $2 tasks · $3 emitted events · $4 events · $5 seconds of a lease
 */
const finishEventsSql = `
  WITH input_events AS (
    SELECT * FROM json_to_recordset($4::json) AS input_events (
      id uuid, rule_set_id uuid, rules_version int, outranked json)
  ),
  input_executions AS (
    SELECT * FROM json_to_recordset($1::json) AS input_executions (
      id uuid, event_id uuid, rule_id uuid, is_delivery boolean, rule_version int, status execution_status, results json,
      error text, started_ms float8, finished_ms float8, due_ms float8, lease uuid, awaits_slot boolean, attention text,
      wait_key uuid, wait_type text, wait_seen bigint)
  ),
  -- finished events: the same text in finish-events.ts and finish-successes.ts (statements.test.ts)
  finished_events AS (
    UPDATE events SET done_at = now(), rule_set_id = input_events.rule_set_id, rules_version = input_events.rules_version,
      outranked = input_events.outranked
    FROM input_events
    WHERE events.id = input_events.id AND events.done_at IS NULL
      AND events.id = ANY (ARRAY(SELECT id FROM input_events))
    RETURNING events.id, events.workspace_id, events.type
  ),
  -- end of finished events
  pausing_executions AS (
    SELECT i.id, i.rule_id, i.is_delivery, i.id = i.event_id AS is_by_hand
    FROM input_executions i JOIN finished_events e ON e.id = i.event_id
    WHERE i.status IN ('waiting', 'retrying')
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
  inserted_executions AS (
    INSERT INTO executions
      (id, workspace_id, event_id, event_type, rule_id, is_delivery, rule_version, status, results, error,
       started_at, finished_at, due_at, lease, awaits_slot, wait_key, wait_type, wait_seen)
    SELECT i.id, e.workspace_id, i.event_id, e.type, i.rule_id, i.is_delivery, i.rule_version,
           CASE WHEN stopped.id IS NULL THEN i.status ELSE 'cancelled' END, i.results, coalesce(stopped.reason, i.error),
           to_timestamp(i.started_ms / 1000),
           CASE WHEN stopped.id IS NULL THEN to_timestamp(i.finished_ms / 1000) ELSE now() END,
           CASE WHEN stopped.id IS NOT NULL THEN NULL
                WHEN i.lease IS NULL THEN to_timestamp(i.due_ms / 1000)
                ELSE now() + make_interval(secs => $5::float8) END,
           i.lease, i.awaits_slot, i.wait_key, i.wait_type, i.wait_seen
    FROM input_executions i
    JOIN finished_events e ON e.id = i.event_id
    LEFT JOIN stopped_executions stopped ON stopped.id = i.id
    ON CONFLICT (id) DO NOTHING
    RETURNING id, workspace_id, event_id, event_type, rule_id, is_delivery, status, error, finished_at, lease
  ),
  recorded_executions AS (
    SELECT inserted_executions.*, input_executions.attention FROM inserted_executions JOIN input_executions USING (id)
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
  SELECT CASE WHEN lease IS NULL THEN 'cancelled' ELSE 'held' END AS what, coalesce(lease, id) AS id, NULL::uuid AS "workspaceId",
         NULL::uuid AS "subjectId", NULL::float8 AS failures
  FROM inserted_executions WHERE lease IS NOT NULL OR status = 'cancelled'
  UNION ALL
  SELECT 'overtaken', id, NULL, NULL, NULL
  FROM input_events WHERE NOT EXISTS (SELECT 1 FROM finished_events WHERE finished_events.id = input_events.id)
  UNION ALL
  SELECT 'delivery', id, workspace_id, rule_id, NULL FROM inserted_deliveries
  UNION ALL
  SELECT 'failing', NULL, workspace_id, rule_id, consecutive_failures FROM updated_counters WHERE consecutive_failures > 0`

export interface Finished<Execution extends RecordableExecution> {
  /** For each outcome the executions that this worker holds and continues; undefined where another delivery was first. */
  held: (Execution[] | undefined)[]
  followUps: FollowUps | undefined
  /** For noteCancelled. */
  rows: ReturnedRow[]
}

/** Finishes events, those of many jobs in one statement: a shorter one where every execution has succeeded and emitted nothing. */
export async function finishEvents<Execution extends RecordableExecution>(
  database: Statements,
  outcomes: Outcome<Execution>[],
): Promise<Finished<Execution>> {
  // Two deliveries of one job may meet in one commit: the first counts.
  const seen = new Set<string>()
  const first = outcomes.filter(({ event }) => !seen.has(event.id) && seen.add(event.id))
  const executions = first.flatMap((outcome) => outcome.executions)
  const { tasks, events } = effectRowsOf(executions)
  const finishedEvents = JSON.stringify(
    first.map(({ event, ruleSetId, rulesVersion, outranked }) => {
      const row = { id: event.id, rule_set_id: ruleSetId, rules_version: rulesVersion }
      return outranked ? { ...row, outranked: writeOutranked(outranked) } : row
    }),
  )
  const rows = areSuccesses(executions)
    ? await finishSuccesses(database, finishedEvents, executions, tasks)
    : await database.run<ReturnedRow>('finish_events', finishEventsSql, [
        await writeRows(executions, executionRow, lengthOfExecution),
        await writeTasks(tasks),
        await writeEvents(events),
        finishedEvents,
        leaseSeconds,
      ])
  const leases = pickIds(rows, 'held')
  const overtaken = pickIds(rows, 'overtaken')
  const finished = new Set(first.filter(({ event }) => !overtaken.has(event.id)))
  const unheard = outcomes.filter(({ event, isRepeated }) => isRepeated && overtaken.has(event.id))
  // Where the search fails, all of them come back, and by now they are recorded.
  if (unheard.length > 0) for (const outcome of outcomes) outcome.isRepeated = true
  const repeated = await findRecorded(
    database,
    unheard.flatMap((outcome) => outcome.executions),
  )
  const own = new Set(repeated)
  for (const { record } of repeated) if (record.lease !== null) leases.add(record.lease)
  const held = outcomes.map((outcome) =>
    finished.has(outcome) || outcome.executions.some((execution) => own.has(execution))
      ? outcome.executions.filter(({ record }) => record.lease !== null && leases.has(record.lease))
      : undefined,
  )
  return { held, followUps: readFollowUps(rows, executions, repeated), rows }
}

function executionRow({ record, event }: RecordableExecution) {
  return {
    id: record.id,
    event_id: event.id,
    rule_id: record.ruleId,
    is_delivery: isDelivery(event.addressee),
    rule_version: record.ruleVersion,
    status: record.status,
    results: capResults(record.results),
    error: capError(record.error),
    started_ms: record.startedAt.getTime(),
    finished_ms: record.finishedAt?.getTime(),
    due_ms: record.dueAt?.getTime(),
    lease: record.lease,
    awaits_slot: record.awaitsSlot || undefined,
    attention: record.attention,
    ...waitColumnsOf(record),
  }
}
