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
  const { events, executions, tasks } = rowsOf(outcomes)
  await database.system.$executeRaw(Prisma.sql`/* record_outcomes */
    WITH done AS (
      UPDATE events SET done_at = now(), rule_ids = new.rule_ids
      FROM json_to_recordset(${toStorableJson(events)}::json) AS new (id uuid, rule_ids uuid[])
      WHERE events.id = new.id AND events.done_at IS NULL
      RETURNING events.id
    ),
    ran AS (
      INSERT INTO executions
        (id, workspace_id, event_id, rule_id, rule_version, status, results, error, started_at, finished_at)
      SELECT new.id, workspace_id, event_id, rule_id, rule_version, status, results, error,
             to_timestamp(started_ms / 1000), to_timestamp(finished_ms / 1000)
      FROM json_to_recordset(${toStorableJson(executions)}::json) AS new (
        id uuid, workspace_id uuid, event_id uuid, rule_id uuid, rule_version int, status execution_status,
        results json, error text, started_ms float8, finished_ms float8)
      JOIN done ON done.id = new.event_id
      ON CONFLICT (id) DO NOTHING
      RETURNING id, rule_id, status, error, finished_at
    ),
    made AS (
      INSERT INTO tasks
        (id, workspace_id, execution_id, action_index, rule_id, title, description, assignee_id, priority, due_at,
         created_at)
      SELECT new.*
      FROM json_to_recordset(${toStorableJson(tasks)}::json) AS new (
        id uuid, workspace_id uuid, execution_id uuid, action_index int, rule_id uuid, title text, description text,
        assignee_id text, priority text, due_at timestamptz, created_at timestamptz)
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

/** The rows to write, under the names of their columns: one JSON text a table crosses cheaper than an array a column. */
function rowsOf(outcomes: Outcome[]) {
  const events: object[] = []
  const executions: object[] = []
  const tasks: object[] = []
  for (const { event, runs } of outcomes) {
    events.push({ id: event.id, rule_ids: runs.map((run) => run.ruleId) })
    for (const run of runs) {
      if (run.executionId === null) continue
      executions.push({
        id: run.executionId,
        workspace_id: event.workspaceId,
        event_id: event.id,
        rule_id: run.ruleId,
        rule_version: run.ruleVersion,
        status: run.success ? 'succeeded' : 'failed',
        results: run.results,
        error: run.error,
        started_ms: run.startedAt.getTime(),
        finished_ms: run.finishedAt.getTime(),
      })
      for (const task of run.tasks) {
        tasks.push({
          id: newId(),
          workspace_id: event.workspaceId,
          execution_id: run.executionId,
          action_index: task.actionIndex,
          rule_id: run.ruleId,
          title: task.title,
          description: task.description,
          assignee_id: task.assigneeId,
          priority: task.priority,
          due_at: task.dueAt,
          created_at: run.startedAt,
        })
      }
    }
  }
  return { events, executions, tasks }
}

/**
 * What mail servers, web servers and filters answer may hold what Postgres refuses in text: NUL and half characters.
 * Almost always there is nothing to do: JSON.stringify escapes no other character as \u, but for control characters.
 */
function toStorableJson(rows: object[]): string {
  const json = JSON.stringify(rows)
  return json.includes('\\u') ? JSON.stringify(rows, storable) : json
}

function storable(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value
}
