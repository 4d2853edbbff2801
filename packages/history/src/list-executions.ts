import {
  escapeLike,
  firstIdOf,
  highestIdLike,
  lowestIdLike,
  Prisma,
  type WorkspaceDatabase,
} from '@automation/database'
import { type ExecutionStatus, isUnfinished, type Narrowing } from '@automation/ledger'
import { joinConditions } from './join-conditions.js'
import { type ScannedPage, scanPage } from './scan-page.js'

export interface ExecutionFilter {
  /** A rule, or a subscription. */
  ruleId?: string
  subscriptionId?: string
  eventId?: string
  ids?: readonly string[]
  eventType?: string
  statuses?: readonly ExecutionStatus[] | undefined
  /** When its event was accepted: from then on. */
  from?: Date
  /** When its event was accepted: before then. */
  to?: Date
  /** Text that the error contains, whatever its case. */
  error?: string
}

/** An execution with the number of its successful actions. */
export interface ListedExecutionRow {
  id: string
  workspaceId: string
  eventId: string
  eventType: string
  /** The rule, or the subscription of a delivery. */
  handlerId: string
  isDelivery: boolean
  ruleVersion: number
  status: ExecutionStatus
  error: string | null
  /** Suppression; null where it is not suppressed. */
  suppression: unknown
  /** true where somebody cancelled it, or a newer event of its key replaced it: it is never opened again. */
  cancelRequested: boolean | null
  startedAt: Date
  dueAt: Date | null
  finishedAt: Date | null
  actionsExecuted: number
  /** The type of the event that its WAIT waits for, '' where only time ends it; null where it waits for something else, or not at all. */
  awaitedType: string | null
}

/**
 * The id of an execution begins with the millisecond of its event (executionIdOf), so times and events are ranges of ids.
 * Deliveries to subscriptions are listed only where the filter names a subscription, their event, their type or themselves.
 */
export function narrowExecutions(workspaceId: string, filter: ExecutionFilter): Narrowing {
  const { ruleId, subscriptionId, eventId, ids, eventType, statuses, from, to, error } = filter
  const range: [Prisma.Sql, ...Prisma.Sql[]] = [Prisma.sql`executions.workspace_id = ${workspaceId}::uuid`]
  const rest: Prisma.Sql[] = []
  if (ruleId !== undefined) range.push(Prisma.sql`executions.handler_id = ${ruleId}::uuid`)
  if (subscriptionId !== undefined)
    range.push(Prisma.sql`executions.handler_id = ${subscriptionId}::uuid AND executions.is_delivery`)
  if (ids !== undefined) range.push(Prisma.sql`executions.id = ANY (${ids}::uuid[])`)
  if (eventId !== undefined) {
    range.push(
      Prisma.sql`executions.id BETWEEN ${lowestIdLike(eventId)}::uuid AND ${highestIdLike(eventId)}::uuid`,
    )
    range.push(Prisma.sql`executions.event_id = ${eventId}::uuid`)
  }
  if (from !== undefined) range.push(Prisma.sql`executions.id >= ${firstIdOf(from.getTime())}::uuid`)
  if (to !== undefined) range.push(Prisma.sql`executions.id < ${firstIdOf(to.getTime())}::uuid`)
  // Most executions succeeded, without an error; the others have an index of their own.
  if (error !== undefined || statuses?.includes('succeeded') === false)
    range.push(Prisma.sql`executions.status <> 'succeeded'`)
  if (statuses !== undefined) {
    // Few executions are unfinished. Two indexes have them: those of suspended workspaces that are due are parked.
    if (statuses.every(isUnfinished))
      range.push(Prisma.sql`
        (executions.due_at IS NOT NULL AND executions.parked IS NULL
         OR executions.due_at IS NOT NULL AND executions.parked)`)
    rest.push(Prisma.sql`executions.status = ANY(${statuses}::execution_status[])`)
  }
  if (eventType !== undefined) rest.push(Prisma.sql`executions.event_type = ${eventType}`)
  if (error !== undefined) rest.push(Prisma.sql`executions.error ILIKE ${`%${escapeLike(error)}%`}`)
  const isNamed = [ruleId, subscriptionId, eventId, ids, eventType].some((value) => value !== undefined)
  if (!isNamed) range.push(Prisma.sql`NOT executions.is_delivery`)
  return { range: joinConditions(range), rest: joinConditions(rest) }
}

/** Narrows a list to one execution. */
export function narrowToExecution(workspaceId: string, id: string): Narrowing {
  return {
    range: Prisma.sql`executions.workspace_id = ${workspaceId}::uuid`,
    rest: Prisma.sql`executions.id = ${id}::uuid`,
  }
}

/** Results are counted in Postgres: twenty actions with twenty attempts each may be half a megabyte. */
const columns = Prisma.sql`
  id, workspace_id AS "workspaceId", event_id AS "eventId", event_type AS "eventType", handler_id AS "handlerId", is_delivery AS "isDelivery",
  rule_version AS "ruleVersion", status, error, suppression, cancel_requested AS "cancelRequested",
  started_at AS "startedAt", due_at AS "dueAt", finished_at AS "finishedAt",
  (SELECT count(*)::int FROM json_array_elements(results) AS result WHERE result->>'status' = 'success')
    AS "actionsExecuted",
  CASE WHEN status = 'waiting' THEN (
    SELECT coalesce(result->'waitsFor'->>'eventType', '') FROM json_array_elements(results) AS result
    WHERE result->>'action' = 'WAIT' AND result->>'status' = 'scheduled' LIMIT 1) END AS "awaitedType"`

export function listExecutions(
  database: WorkspaceDatabase,
  narrowing: Narrowing,
  page: { before: string | undefined; limit: number },
): Promise<ScannedPage<ListedExecutionRow>> {
  return scanPage<ListedExecutionRow>(database, Prisma.sql`executions`, columns, narrowing, page)
}
