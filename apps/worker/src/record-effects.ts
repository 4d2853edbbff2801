import { newId } from '@automation/database'
import type { Run } from './run.js'

/** A UUID in the order of time, which follows from the failure and the subscription: each failure of an execution is told once. */
const deliveryId = `(
      SELECT (left(time, 8) || '-' || right(time, 4) || '-8' || left(digest, 3) || '-8' || substr(digest, 4, 3) || '-'
              || right(digest, 12))::uuid
      FROM (SELECT lpad(to_hex((extract(epoch FROM recorded.finished_at) * 1000)::bigint), 12, '0') AS time,
                   md5(recorded.id::text || s.id::text || recorded.finished_at::text) AS digest) AS parts)`

/**
 * What is recorded with runs, whether they are new (record-outcomes.ts) or went on (record-steps.ts). Each piece follows from
 * the rows of `recorded`, which are the runs that *this* statement has written: what another delivery recorded first
 * contributes nothing, so tasks, events and counts happen once.
 *
 * - A step that goes on under its lease may be said twice: it was committed, and the answer was lost. Then its row moves
 *   again, so what follows from it is inserted unless it is there.
 * - `locked` takes the counters in the order of their ids, so that two workers do not lock each other out.
 * - A run counts when it is finished, and a cancelled one does not. So the counters are the finished rows, counted.
 * - Counters of a rule that was deleted meanwhile are gone with it; its executions stay as history.
 *
 * `recorded` has id, workspace_id, event_id, event_type, rule_id, status, error, finished_at and attention; parameters $2 and
 * $3 are tasks and emitted events.
 */
export const recordEffects = `
  made AS (
    INSERT INTO tasks
      (id, workspace_id, execution_id, action_index, rule_id, title, description, assignee_id, priority, due_at,
       created_at)
    SELECT new.*
    FROM json_to_recordset($2::json) AS new (
      id uuid, workspace_id uuid, execution_id uuid, action_index int, rule_id uuid, title text, description text,
      assignee_id text, priority text, due_at timestamptz, created_at timestamptz)
    JOIN recorded ON recorded.id = new.execution_id
    ON CONFLICT (execution_id, action_index) DO NOTHING
  ),
  emitted AS (
    INSERT INTO events (id, workspace_id, type, data, depth, caused_by)
    SELECT new.id, new.workspace_id, new.type, new.data, new.depth, new.caused_by
    FROM json_to_recordset($3::json) AS new (
      id uuid, workspace_id uuid, type text, data json, depth int, caused_by uuid)
    JOIN recorded ON recorded.id = new.caused_by
    ON CONFLICT (id) DO NOTHING
  ),
  told AS (
    INSERT INTO events (id, workspace_id, type, data, rule_id)
    SELECT ${deliveryId}, recorded.workspace_id, 'execution.failed',
           json_build_object('executionId', recorded.id, 'ruleId', recorded.rule_id, 'eventId', recorded.event_id,
             'eventType', recorded.event_type, 'error', recorded.error,
             'failedAt', to_char(recorded.finished_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')),
           s.id
    FROM recorded
    JOIN subscriptions s
      ON s.workspace_id = recorded.workspace_id AND s.is_active AND 'execution.failed' = ANY (s.event_types)
    WHERE recorded.status = 'failed' AND position('.' IN recorded.event_type) = 0
    ON CONFLICT (id) DO NOTHING
    RETURNING id, workspace_id, rule_id
  ),
  tally AS (
    SELECT rule_id,
           count(*) FILTER (WHERE status = 'succeeded') AS successes,
           count(*) FILTER (WHERE status = 'failed') AS failures,
           count(*) FILTER (WHERE status = 'failed' AND place > last_success) AS failures_since,
           max(finished_at) FILTER (WHERE status = 'succeeded') AS success_at,
           max(finished_at) FILTER (WHERE status = 'failed') AS failure_at,
           (array_agg(error ORDER BY place DESC) FILTER (WHERE status = 'failed'))[1] AS error,
           (array_agg(attention ORDER BY place DESC) FILTER (WHERE attention IS NOT NULL))[1] AS attention
    FROM (
      SELECT *, coalesce(max(place) FILTER (WHERE status = 'succeeded') OVER (PARTITION BY rule_id), 0) AS last_success
      FROM (
        SELECT *, row_number() OVER (PARTITION BY rule_id ORDER BY finished_at, id) AS place
        FROM recorded WHERE status IN ('succeeded', 'failed')
      ) AS placed
    ) AS judged
    GROUP BY rule_id
  ),
  locked AS (
    SELECT rule_id FROM rule_counters WHERE rule_id IN (SELECT rule_id FROM tally) ORDER BY rule_id FOR UPDATE
  ),
  counted AS (
    UPDATE rule_counters AS counters SET
      success_count = counters.success_count + tally.successes,
      failure_count = counters.failure_count + tally.failures,
      consecutive_failures =
        CASE WHEN tally.successes > 0 THEN tally.failures_since
             ELSE counters.consecutive_failures + tally.failures END,
      last_success_at = greatest(counters.last_success_at, tally.success_at),
      last_failure_at = greatest(counters.last_failure_at, tally.failure_at),
      last_error = coalesce(tally.error, counters.last_error),
      attention_reason = CASE WHEN tally.attention IS NULL OR counters.attention_reason = 'auto_paused'
                              THEN counters.attention_reason ELSE tally.attention END,
      attention_at = CASE WHEN tally.attention IS NULL OR counters.attention_reason = 'auto_paused'
                          THEN counters.attention_at ELSE tally.failure_at END
    FROM tally JOIN locked USING (rule_id)
    WHERE counters.rule_id = tally.rule_id
    RETURNING counters.workspace_id, counters.rule_id, counters.consecutive_failures
  )`

/** The rows for $2 and $3, under the names of their columns: one JSON text a table crosses cheaper than an array a column. */
export function effectRowsOf(runs: Run[]): { tasks: object[]; events: object[] } {
  const tasks: object[] = []
  const events: object[] = []
  for (const run of runs) {
    for (const task of run.tasks) {
      tasks.push({
        id: newId(),
        workspace_id: run.event.workspaceId,
        execution_id: run.executionId,
        action_index: task.actionIndex,
        rule_id: run.rule.id,
        title: task.title,
        description: task.description,
        assignee_id: task.assigneeId,
        priority: task.priority,
        due_at: task.dueAt,
        created_at: task.createdAt,
      })
    }
    for (const { id, workspaceId, type, data, depth } of run.emitted) {
      events.push({ id, workspace_id: workspaceId, type, data, depth, caused_by: run.executionId })
    }
  }
  return { tasks, events }
}

/**
 * What mail servers, web servers and filters answer may hold what Postgres refuses in text: NUL and half characters.
 * Almost always there is nothing to do: JSON.stringify escapes no other character as \u, but for control characters.
 */
export function toStorableJson(rows: object[]): string {
  const json = JSON.stringify(rows)
  return json.includes('\\u') ? JSON.stringify(rows, storable) : json
}

function storable(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value
}
