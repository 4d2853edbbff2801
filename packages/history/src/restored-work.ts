import type { Database } from '@automation/database'

/** So many rows of each kind are looked at, and so many executions are named. */
const mostCounted = 100_000
const mostNamed = 100

/** What one rule, or subscription, of a workspace had not finished. */
export interface RestoredExecutions {
  workspaceId: string
  workspaceName: string
  /** The rule or the subscription. */
  handlerId: string
  /** null: it is a subscription, or was deleted. */
  ruleName: string | null
  /** A worker held them: their call may have been made, and so may all that follow it. */
  inProgress: number
  /** Due by now: their next action may have been performed since. */
  due: number
  /** They wait for longer. An event or a decision may have ended their WAIT since. */
  later: number
}

/** A call of which the result is not known. */
export interface OpenCall {
  id: string
  workspaceId: string
  handlerId: string
  /** The last attempt began then, by the clock of its worker. */
  attemptAt: string
}

export interface RestoredWork {
  events: { workspaceId: string; workspaceName: string; count: number }[]
  executions: RestoredExecutions[]
  /** The oldest of those, at most a hundred. */
  openCalls: OpenCall[]
  ticks: { workspaceId: string; ruleId: string; ruleName: string; dueAt: string }[]
  /** false: there is more of one kind than is counted. */
  isComplete: boolean
}

const countEventsSql = `
  SELECT workspace_id AS "workspaceId", name AS "workspaceName", counted.count
  FROM (
    SELECT workspace_id, count(*)::int AS count
    FROM (SELECT workspace_id FROM events WHERE done_at IS NULL AND parked IS NULL LIMIT $1::int) AS undone
    GROUP BY workspace_id
  ) AS counted JOIN workspaces ON workspaces.id = workspace_id
  ORDER BY counted.count DESC, workspace_id`

const countUnfinishedSql = `
  SELECT counted.workspace_id AS "workspaceId", workspaces.name AS "workspaceName", handler_id AS "handlerId", rules.name AS "ruleName",
         "inProgress", due, later
  FROM (
    SELECT workspace_id, handler_id,
           count(*) FILTER (WHERE status = 'running')::int AS "inProgress",
           count(*) FILTER (WHERE status <> 'running' AND due_at <= now())::int AS due,
           count(*) FILTER (WHERE status <> 'running' AND due_at > now())::int AS later
    FROM (
      SELECT workspace_id, handler_id, status, due_at FROM executions
      WHERE due_at IS NOT NULL AND parked IS NULL ORDER BY due_at, id LIMIT $1::int
    ) AS unfinished
    GROUP BY workspace_id, handler_id
  ) AS counted JOIN workspaces ON workspaces.id = counted.workspace_id LEFT JOIN rules ON rules.id = handler_id
  ORDER BY "inProgress" + due DESC, counted.workspace_id, handler_id`

/** The last result is that of the action under way. $2 how many are named */
const listOpenCallsSql = `
  SELECT id, workspace_id AS "workspaceId", handler_id AS "handlerId", last -> 'attempts' -> -1 ->> 'startedAt' AS "attemptAt"
  FROM (
    SELECT id, workspace_id, handler_id, due_at, results -> -1 AS last FROM executions
    WHERE due_at IS NOT NULL AND parked IS NULL AND status = 'running' ORDER BY due_at, id LIMIT $1::int
  ) AS held
  WHERE last ->> 'status' = 'running' AND last -> 'attempts' IS NOT NULL ORDER BY due_at, id LIMIT $2::int`

const listTicksSql = `
  SELECT workspace_id AS "workspaceId", id AS "ruleId", name AS "ruleName", next_run_at AS "dueAt" FROM rules
  WHERE next_run_at <= now() ORDER BY next_run_at, id LIMIT $1::int`

/**
 * Lists what was not finished, or has become due, in a database that was restored and whose workers are paused: what it says is as it was at that moment, with what
 * was accepted since. Suspended workspaces are left out.
 */
export async function readRestoredWork(database: Pick<Database, 'run'>): Promise<RestoredWork> {
  const most = mostCounted + 1
  const events = await database.run<RestoredWork['events'][number]>('count_restored_events', countEventsSql, [
    most,
  ])
  const executions = await database.run<RestoredExecutions>('count_restored_executions', countUnfinishedSql, [
    most,
  ])
  const openCalls = await database.run<OpenCall>('list_open_calls', listOpenCallsSql, [most, mostNamed])
  const ticks = await database.run<Omit<RestoredWork['ticks'][number], 'dueAt'> & { dueAt: Date }>(
    'list_due_ticks',
    listTicksSql,
    [most],
  )
  const sums = [
    events.reduce((sum, { count }) => sum + count, 0),
    executions.reduce((sum, { inProgress, due, later }) => sum + inProgress + due + later, 0),
    ticks.length,
  ]
  return {
    ...{ events, executions, openCalls },
    ticks: ticks.map(({ dueAt, ...tick }) => ({ ...tick, dueAt: dueAt.toISOString() })),
    isComplete: sums.every((sum) => sum <= mostCounted),
  }
}
