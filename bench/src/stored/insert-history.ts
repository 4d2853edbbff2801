import type pg from 'pg'
import { eventData, triggerPath } from '../usual-case.js'
import type { Workspace } from '../workspace.js'
import { copyRows } from './copy-rows.js'
import { copiedTables, type History, type HistoryLines, linesOf, type Pattern } from './history-rows.js'

const perSlice = 50_000

/**
 * Inserts a history by COPY, in order of time and with all indexes in place, as the product writes it; and the counters that match.
 *
 * @param beforeSlice is told how many events are there
 */
export async function insertHistory(
  postgres: pg.Client,
  history: History,
  beforeSlice: (inserted: number) => Promise<void> = async () => {},
): Promise<void> {
  for (let first = 0; first < history.events; first += perSlice) {
    await beforeSlice(first)
    const count = Math.min(perSlice, history.events - first)
    const rows = Array.from({ length: count }, (_, place) => linesOf(history, first + place))
    for (const [name, table] of Object.entries(copiedTables))
      await copyRows(
        postgres,
        table,
        rows.flatMap((lines) => lines[name as keyof HistoryLines] ?? []),
      )
  }
  await postgres.query(countersStatement, [history.patterns.map(({ workspaceId }) => workspaceId)])
}

/**
 * Prepares a history of workspaces with the same rules: each gets one real event, which matches one rule that creates a task, and the others are as it.
 * Its end is now.
 */
export async function prepareHistory(
  postgres: pg.Client,
  workspaces: Workspace[],
  extent: Pick<History, 'events' | 'days'>,
): Promise<History> {
  await Promise.all(workspaces.map(postOne))
  const { rows: patterns } = await postgres.query<Pattern>(patternStatement, [workspaces.map(({ id }) => id)])
  if (patterns.length !== workspaces.length) throw new Error('An event has created no task')
  return { patterns, ...extent, endsAt: Date.now() }
}

async function postOne({ baseUrl, headers }: Workspace): Promise<void> {
  const response = await fetch(`${baseUrl}${triggerPath}`, {
    method: 'POST',
    headers: { ...headers, prefer: 'wait=30' },
    body: JSON.stringify({ data: eventData }),
  })
  if (response.status !== 200) throw new Error(`Got ${response.status}: ${await response.text()}`)
  await response.arrayBuffer()
}

/** In the order of the workspaces. $1 workspaces */
const patternStatement = `
  SELECT workspace_id AS "workspaceId", rule_set_id AS "ruleSetId", rules_version AS "rulesVersion", handler_id AS "ruleId",
         rule_version AS "ruleVersion", results, title AS "taskTitle", priority AS "taskPriority"
  FROM unnest($1::uuid[]) WITH ORDINALITY AS wanted (workspace_id, place)
  CROSS JOIN LATERAL (
    SELECT events.rule_set_id, events.rules_version, executions.handler_id, executions.rule_version, results::text AS results,
           tasks.title, tasks.priority
    FROM events
    JOIN executions ON executions.event_id = events.id
    JOIN tasks ON tasks.execution_id = executions.id
    WHERE events.workspace_id = wanted.workspace_id
    ORDER BY events.id DESC LIMIT 1
  ) AS newest
  ORDER BY place`

const countersStatement = `
  UPDATE rule_counters SET success_count = past.successes, failure_count = past.failures
  FROM (
    SELECT handler_id, count(*) FILTER (WHERE status = 'succeeded') AS successes,
           count(*) FILTER (WHERE status = 'failed') AS failures
    FROM executions WHERE workspace_id = ANY ($1) GROUP BY handler_id
  ) AS past
  WHERE rule_counters.rule_id = past.handler_id`
