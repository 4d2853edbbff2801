import { type Database, newId, Prisma } from '@automation/database'
import type { LoadedEvent } from './load-events.js'
import type { RuleRun } from './run-rule.js'

/** An event that was run, with all that came of it. */
export interface Outcome {
  event: LoadedEvent
  runs: RuleRun[]
}

/**
 * What the product promises of outcomes hangs on this one statement:
 *
 * - `done` turns events to done, and everything else follows from the events that *this* statement turned. An event
 *   that another delivery of its job finished first contributes nothing: no row, no count, no task.
 * - Executions, tasks and counters are committed with it or not at all, so the counters are the rows, counted.
 * - `locked` takes the counters in the order of their ids, so that two workers do not lock each other out.
 *
 * Counters of a rule that was deleted meanwhile are gone with it; its executions stay as history.
 */
export async function recordOutcomes(database: Database, outcomes: Outcome[]): Promise<void> {
  const executions = outcomes.flatMap(({ event, runs }) =>
    runs.flatMap((run) => (run.executionId === null ? [] : [{ ...run, id: run.executionId, event }])),
  )
  const tasks = executions.flatMap((execution) => execution.tasks.map((task) => ({ ...task, execution })))

  await database.system.$executeRaw(Prisma.sql`/* record_outcomes */
    WITH done AS (
      UPDATE events SET done_at = now(), rule_ids = new.rule_ids::uuid[]
      FROM unnest(
        ${outcomes.map(({ event }) => event.id)}::uuid[],
        ${outcomes.map(({ runs }) => `{${runs.map((run) => run.ruleId).join(',')}}`)}::text[]
      ) AS new (id, rule_ids)
      WHERE events.id = new.id AND events.done_at IS NULL
      RETURNING events.id
    ),
    ran AS (
      INSERT INTO executions
        (id, workspace_id, event_id, rule_id, rule_version, status, results, error, started_at, finished_at)
      SELECT new.id, workspace_id, event_id, rule_id, rule_version, status::execution_status, results::json, error,
             started_at, finished_at
      FROM unnest(
        ${executions.map(({ id }) => id)}::uuid[],
        ${executions.map(({ event }) => event.workspaceId)}::uuid[],
        ${executions.map(({ event }) => event.id)}::uuid[],
        ${executions.map(({ ruleId }) => ruleId)}::uuid[],
        ${executions.map(({ ruleVersion }) => ruleVersion)}::int[],
        ${executions.map(({ success }) => (success ? 'succeeded' : 'failed'))}::text[],
        ${executions.map(({ results }) => toStorableJson(results))}::text[],
        ${executions.map(({ error }) => storable('', error))}::text[],
        ${executions.map(({ startedAt }) => startedAt.toISOString())}::timestamptz[],
        ${executions.map(({ finishedAt }) => finishedAt.toISOString())}::timestamptz[]
      ) AS new (id, workspace_id, event_id, rule_id, rule_version, status, results, error, started_at, finished_at)
      JOIN done ON done.id = new.event_id
      ON CONFLICT (id) DO NOTHING
      RETURNING id, rule_id, status, error, finished_at
    ),
    made AS (
      INSERT INTO tasks
        (id, workspace_id, execution_id, action_index, rule_id, title, description, assignee_id, priority, due_at,
         created_at)
      SELECT new.id, workspace_id, execution_id, action_index, new.rule_id, title, description, assignee_id, priority,
             due_at, created_at
      FROM unnest(
        ${tasks.map(() => newId())}::uuid[],
        ${tasks.map(({ execution }) => execution.event.workspaceId)}::uuid[],
        ${tasks.map(({ execution }) => execution.id)}::uuid[],
        ${tasks.map(({ actionIndex }) => actionIndex)}::int[],
        ${tasks.map(({ execution }) => execution.ruleId)}::uuid[],
        ${tasks.map(({ title }) => storable('', title))}::text[],
        ${tasks.map(({ description }) => storable('', description))}::text[],
        ${tasks.map(({ assigneeId }) => storable('', assigneeId))}::text[],
        ${tasks.map(({ priority }) => priority)}::text[],
        ${tasks.map(({ dueAt }) => dueAt?.toISOString() ?? null)}::timestamptz[],
        ${tasks.map(({ execution }) => execution.startedAt.toISOString())}::timestamptz[]
      ) AS new (id, workspace_id, execution_id, action_index, rule_id, title, description, assignee_id, priority,
                due_at, created_at)
      JOIN ran ON ran.id = new.execution_id
      ON CONFLICT (execution_id, action_index) DO NOTHING
    ),
    tally AS (
      SELECT rule_id,
             count(*) FILTER (WHERE status = 'succeeded') AS successes,
             count(*) FILTER (WHERE status = 'failed') AS failures,
             count(*) FILTER (WHERE status = 'failed' AND place > last_success) AS failures_since,
             max(finished_at) FILTER (WHERE status = 'succeeded') AS success_at,
             max(finished_at) FILTER (WHERE status = 'failed') AS failure_at,
             (array_agg(error ORDER BY place DESC) FILTER (WHERE status = 'failed'))[1] AS error
      FROM (
        SELECT *, coalesce(max(place) FILTER (WHERE status = 'succeeded') OVER (PARTITION BY rule_id), 0) AS last_success
        FROM (SELECT *, row_number() OVER (PARTITION BY rule_id ORDER BY finished_at, id) AS place FROM ran) AS placed
      ) AS judged
      GROUP BY rule_id
    ),
    locked AS (
      SELECT rule_id FROM rule_counters WHERE rule_id IN (SELECT rule_id FROM tally) ORDER BY rule_id FOR UPDATE
    )
    UPDATE rule_counters AS counters SET
      success_count = counters.success_count + tally.successes,
      failure_count = counters.failure_count + tally.failures,
      consecutive_failures =
        CASE WHEN tally.successes > 0 THEN tally.failures_since
             ELSE counters.consecutive_failures + tally.failures END,
      last_success_at = greatest(counters.last_success_at, tally.success_at),
      last_failure_at = greatest(counters.last_failure_at, tally.failure_at),
      last_error = coalesce(tally.error, counters.last_error)
    FROM tally JOIN locked USING (rule_id)
    WHERE counters.rule_id = tally.rule_id`)
}

/** The same for all strings in it. Almost always there is nothing to do, and a look at the text tells. */
function toStorableJson(value: unknown): string {
  const json = JSON.stringify(value)
  return /\\u(0000|d[89a-f])/i.test(json) ? JSON.stringify(value, storable) : json
}

/** What mail servers, web servers and filters answer may hold what Postgres refuses in text: NUL and half characters. */
function storable<Value>(_key: string, value: Value): Value {
  return typeof value === 'string' ? (value.replaceAll('\0', '').toWellFormed() as Value) : value
}
