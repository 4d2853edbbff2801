import { type ExecutionStatus, Prisma } from '@automation/database'
import { isServiceEvent } from '@automation/engine'
import { Type } from 'typebox'
import { firstIdAt, joinConditions, TimeRange } from '../../history-filter.js'
import type { Narrowing } from '../../page.js'
import { escapeLike, SearchText } from '../../search-text.js'

/** What both a query and a body may say. */
export const executionFilter = {
  ruleId: Type.Optional(Type.String({ description: 'of this rule, or to this subscription' })),
  eventType: Type.Optional(Type.String()),
  ...TimeRange,
  error: Type.Optional(
    Type.String({ ...SearchText, minLength: 1, description: 'text that the error contains' }),
  ),
}

interface Filter {
  ruleId?: string
  eventId?: string
  eventType?: string
  statuses?: ExecutionStatus[] | undefined
  /** When its event came in: then or later, and before. */
  from?: string
  to?: string
  error?: string
}

const unfinished: ReadonlySet<ExecutionStatus> = new Set(['running', 'waiting', 'retrying'])

/**
 * The id of an execution begins with the millisecond in which its event came in (executionIdOf), so times and events are
 * ranges of ids. Deliveries to subscriptions are told only to those who name one, its event or its type.
 */
export function narrowExecutions(workspaceId: string, filter: Filter): Narrowing {
  const { ruleId, eventId, eventType, statuses, from, to, error } = filter
  const range: [Prisma.Sql, ...Prisma.Sql[]] = [Prisma.sql`executions.workspace_id = ${workspaceId}::uuid`]
  const rest: Prisma.Sql[] = []
  if (ruleId !== undefined) range.push(Prisma.sql`executions.rule_id = ${ruleId}::uuid`)
  if (eventId !== undefined) {
    range.push(Prisma.sql`executions.id BETWEEN ${firstOf(eventId)}::uuid AND ${lastOf(eventId)}::uuid`)
    range.push(Prisma.sql`executions.event_id = ${eventId}::uuid`)
  }
  if (from !== undefined) range.push(Prisma.sql`executions.id >= ${firstIdAt(from)}::uuid`)
  if (to !== undefined) range.push(Prisma.sql`executions.id < ${firstIdAt(to)}::uuid`)
  // Of all that ever ran most succeeded, with no error; what did not has an index of its own.
  if (error !== undefined || statuses?.includes('succeeded') === false)
    range.push(Prisma.sql`executions.status <> 'succeeded'`)
  if (statuses !== undefined) {
    // Of all that ever ran few are under way, and those have an index of their own.
    if (statuses.every((status) => unfinished.has(status)))
      range.push(Prisma.sql`executions.due_at IS NOT NULL`)
    rest.push(Prisma.sql`executions.status = ANY(${statuses}::execution_status[])`)
  }
  if (eventType !== undefined) rest.push(Prisma.sql`executions.event_type = ${eventType}`)
  if (error !== undefined) rest.push(Prisma.sql`executions.error ILIKE ${`%${escapeLike(error)}%`}`)
  const isNamed = ruleId !== undefined || eventId !== undefined || isServiceEvent(eventType ?? '')
  // Of LIKE Postgres knows that nearly all fit; of a function it would suppose that few do, and sort all of them.
  if (!isNamed) range.push(Prisma.sql`executions.event_type NOT LIKE '%.%'`)
  return { range: joinConditions(range), rest: joinConditions(rest) }
}

/** All ids of the millisecond: of executions by hand (the event's own) and of those by rule. */
function firstOf(eventId: string): string {
  return `${eventId.slice(0, 13)}-0000-0000-000000000000`
}

function lastOf(eventId: string): string {
  return `${eventId.slice(0, 13)}-ffff-ffff-ffffffffffff`
}
