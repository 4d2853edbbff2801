import { idRangeOf, type Statements, writeJson } from '@automation/database'
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
import { effectsSql, finishedEventsSql, stoppedExecutionsSql } from './parts-of-statements.js'

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
 * - Postgres does not know yet of a fresh backlog and would read all of it. `= ANY (ARRAY(…))` makes it look events up by id, and the range of the ids keeps
 *   it from opening the leaves of other times.
 * - An execution that is to wait may only if its rule or subscription is still on: a change that switches it off is either seen here, and the
 *   execution is cancelled, or it waits for this commit and then cancels the execution (cancelWaiting). The lock on their rows makes that
 *   order, and only a statement with such an execution takes it. FOR SHARE would let commits of several workers pass the waiting change.
 * - Locks are taken in one order: events, rules, subscriptions, counters, each in the order of their ids. So two workers never wait for each
 *   other, and no change of rules does (lockRules in packages/rules).
 * - A finished execution counts once, and a cancelled one does not: counters are the finished rows, counted.
 * - Counters of a rule that was deleted meanwhile are gone with it; its executions stay as history.
 *
 * $1 executions · $2 tasks · $3 emitted events · $4 and $5 between which ids the events lie · $6 events · $7 seconds of a lease
 */
const finishEventsSql = `
  WITH input_events AS (
    SELECT * FROM json_to_recordset($6::json) AS input_events (
      id uuid, rule_set_id uuid, rules_version int, outranked json)
  ),
  input_executions AS (
    SELECT * FROM json_to_recordset($1::json) AS input_executions (
      id uuid, event_id uuid, handler_id uuid, is_delivery boolean, rule_version int, status execution_status, results json,
      error text, started_ms float8, finished_ms float8, due_ms float8, lease uuid, awaits_slot boolean, attention text,
      wait_key uuid, wait_type text, wait_seen bigint)
  ),
  ${finishedEventsSql},
  pausing_executions AS (
    SELECT i.id, i.handler_id, i.is_delivery, i.id = i.event_id AS is_by_hand
    FROM input_executions i JOIN finished_events e ON e.id = i.event_id
    WHERE i.status IN ('waiting', 'retrying')
  ),
  ${stoppedExecutionsSql},
  inserted_executions AS (
    INSERT INTO executions
      (id, workspace_id, event_id, event_type, handler_id, is_delivery, rule_version, status, results, error,
       started_at, finished_at, due_at, lease, awaits_slot, wait_key, wait_type, wait_seen)
    SELECT i.id, e.workspace_id, i.event_id, e.type, i.handler_id, i.is_delivery, i.rule_version,
           CASE WHEN stopped.id IS NULL THEN i.status ELSE 'cancelled' END, i.results, coalesce(stopped.reason, i.error),
           to_timestamp(i.started_ms / 1000),
           CASE WHEN stopped.id IS NULL THEN to_timestamp(i.finished_ms / 1000) ELSE now() END,
           CASE WHEN stopped.id IS NOT NULL THEN NULL
                WHEN i.lease IS NULL THEN to_timestamp(i.due_ms / 1000)
                ELSE now() + make_interval(secs => $7::float8) END,
           i.lease, i.awaits_slot, i.wait_key, i.wait_type, i.wait_seen
    FROM input_executions i
    JOIN finished_events e ON e.id = i.event_id
    LEFT JOIN stopped_executions stopped ON stopped.id = i.id
    ON CONFLICT (id) DO NOTHING
    RETURNING id, workspace_id, event_id, event_type, handler_id, is_delivery, status, error, finished_at, lease
  ),
  recorded_executions AS (
    SELECT inserted_executions.*, input_executions.attention FROM inserted_executions JOIN input_executions USING (id)
  ),
  ${effectsSql}
  SELECT CASE WHEN lease IS NULL THEN 'cancelled' ELSE 'held' END AS what, coalesce(lease, id) AS id, NULL::uuid AS "workspaceId",
         NULL::uuid AS "subjectId", NULL::float8 AS failures
  FROM inserted_executions WHERE lease IS NOT NULL OR status = 'cancelled'
  UNION ALL
  SELECT 'overtaken', id, NULL, NULL, NULL
  FROM input_events WHERE NOT EXISTS (SELECT 1 FROM finished_events WHERE finished_events.id = input_events.id)
  UNION ALL
  SELECT 'delivery', id, workspace_id, addressee_id, NULL FROM inserted_deliveries
  UNION ALL
  SELECT 'failing', NULL, workspace_id, rule_id, consecutive_failures FROM updated_counters WHERE consecutive_failures > 0`

export interface Finished<Execution extends RecordableExecution> {
  /** For each outcome the executions that this worker holds and continues; undefined where another delivery was first. */
  held: (Execution[] | undefined)[]
  followUps: FollowUps | undefined
  /** For noteStored. */
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
  const range = idRangeOf(first.map(({ event }) => event.id))
  const finishedEvents = writeJson(
    first.map(({ event, ruleSetId, rulesVersion, outranked }) => {
      const row = { id: event.id, rule_set_id: ruleSetId, rules_version: rulesVersion }
      return outranked ? { ...row, outranked: writeOutranked(outranked) } : row
    }),
  )
  const rows = areSuccesses(executions)
    ? await finishSuccesses(database, { rows: finishedEvents, range }, executions, tasks)
    : await database.run<ReturnedRow>('finish_events', finishEventsSql, [
        await writeRows(executions, executionRow, lengthOfExecution),
        await writeTasks(tasks),
        await writeEvents(events),
        ...range,
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
    handler_id: record.handlerId,
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
