import type { Site } from './site.js'

export interface EventRow {
  id: string
  workspaceId: string
  type: string
  /** Of the planned event that it, or what caused it, was. */
  name: string
  /** Of an event that was emitted for an item of a list; otherwise ''. */
  tag: string
  /** The number of tags in its data. */
  tags: number
  causedBy: string | null
  replayOf: string | null
  isDone: boolean
  quarantined: boolean
}

export interface ExecutionRow {
  id: string
  eventId: string
  ruleId: string
  status: string
  error: string | null
  /** Of each action so far, how many calls were noted before they were made. */
  attempts: (number | null)[]
  /** The actions that have created a task or emitted an event, as their results say. */
  effects: number
  /** Epoch ms. */
  startedAt: number
  finishedAt: number | null
}

export interface TaskRow {
  executionId: string
  actionIndex: number
  title: string
}

export interface ReceiptRow {
  id: string
  workspaceId: string
  key: string
  eventIds: string[]
}

export interface CounterRow {
  ruleId: string
  successCount: number
  failureCount: number
}

export type Tables = Awaited<ReturnType<typeof readTables>>

/**
 * What is written in Postgres in the end, as the checker needs it.
 *
 * @param whose the rows of a workspace with rules of its own, or those of all others
 */
export async function readTables(
  { query, hostile, once, switched }: Site,
  whose: 'hostile' | 'once' | 'switched' | 'others',
) {
  const own = { hostile, once, switched }
  const ids = whose === 'others' ? Object.values(own) : [own[whose]]
  const list = ids.map(({ id }) => `'${id}'`).join(', ')
  const where = `WHERE workspace_id ${whose === 'others' ? 'NOT IN' : 'IN'} (${list})`
  const events = await query<EventRow>(`
    SELECT id, workspace_id AS "workspaceId", type, coalesce(data->>'name', data#>>'{payload,data,name}', '') AS name,
           coalesce(data->>'tag', '') AS tag,
           CASE WHEN json_typeof(data->'tags') = 'array' THEN json_array_length(data->'tags') ELSE 0 END AS tags,
           caused_by AS "causedBy", replay_of AS "replayOf", done_at IS NOT NULL AS "isDone", quarantined
    FROM events ${where}`)
  const executions = await query<ExecutionRow>(`
    SELECT id, event_id AS "eventId", handler_id AS "ruleId", status, error,
           ARRAY(SELECT json_array_length(result->'attempts')
                 FROM json_array_elements(results) WITH ORDINALITY AS listed (result, place)
                 ORDER BY place) AS attempts,
           (SELECT count(*)::int FROM json_array_elements(results) AS result
            WHERE result->>'action' IN ('CREATE_TASK', 'EMIT_EVENT') AND result->>'status' = 'success') AS effects,
           (extract(epoch FROM started_at) * 1000)::float8 AS "startedAt",
           (extract(epoch FROM finished_at) * 1000)::float8 AS "finishedAt"
    FROM executions ${where}`)
  const tasks = await query<TaskRow>(
    `SELECT execution_id AS "executionId", action_index AS "actionIndex", title FROM tasks ${where}`,
  )
  const receipts = await query<ReceiptRow>(
    `SELECT id, workspace_id AS "workspaceId", key, event_ids AS "eventIds" FROM webhook_receipts ${where}`,
  )
  const counters = await query<CounterRow>(`
    SELECT rule_id AS "ruleId", success_count::float8 AS "successCount", failure_count::float8 AS "failureCount" FROM rule_counters ${where}`)
  return { events, executions, tasks, receipts, counters }
}

/** How much is still to be done, in one moment: events turn into executions, and they into events. */
export async function countOpen({ query }: Site): Promise<number> {
  const [row] = await query<{ open: number }>(`
    SELECT ((SELECT count(*) FROM events WHERE done_at IS NULL)
          + (SELECT count(*) FROM executions WHERE finished_at IS NULL))::int AS open`)
  return row?.open ?? 0
}
