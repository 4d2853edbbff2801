import { Prisma } from '@automation/database'
import { isServiceEvent } from '@automation/engine'
import { Type } from 'typebox'
import { clockSkewMs, firstIdAt, joinConditions, readTime, TimeRange } from '../../history-filter.js'
import type { Narrowing } from '../../page.js'
import type { EventStatus } from './event-schemas.js'

/** What both a query and a body may say. */
export const eventFilter = {
  type: Type.Optional(Type.String()),
  ruleId: Type.Optional(
    Type.String({ description: 'that this rule was considered for, or this subscription told' }),
  ),
  ...TimeRange,
}

interface Filter {
  type?: string
  ruleId?: string
  /** When it was accepted: then or later, and before. */
  from?: string
  to?: string
  status?: EventStatus
}

/** What is told to subscriptions is listed only to those who name one, or its type. */
export function narrowEvents(workspaceId: string, { type, ruleId, from, to, status }: Filter): Narrowing {
  const range: [Prisma.Sql, ...Prisma.Sql[]] = [Prisma.sql`events.workspace_id = ${workspaceId}::uuid`]
  const rest: Prisma.Sql[] = []
  if (from !== undefined) {
    range.push(Prisma.sql`events.id >= ${firstIdAt(from, -clockSkewMs)}::uuid`)
    range.push(Prisma.sql`events.accepted_at >= ${readTime(from)}`)
  }
  if (to !== undefined) {
    range.push(Prisma.sql`events.id < ${firstIdAt(to, clockSkewMs)}::uuid`)
    range.push(Prisma.sql`events.accepted_at < ${readTime(to)}`)
  }
  // Of all that ever came in few are not done, and those have an index of their own.
  if (status === 'accepted') range.push(Prisma.sql`events.done_at IS NULL`)
  else if (status !== undefined) rest.push(Prisma.sql`${eventStatus} = ${status}`)
  if (type !== undefined) rest.push(Prisma.sql`events.type = ${type}`)
  if (ruleId !== undefined)
    rest.push(
      Prisma.sql`(events.rule_id = ${ruleId}::uuid OR events.rule_set_id IN (${setsWith(workspaceId, ruleId)}))`,
    )
  else if (!isServiceEvent(type ?? '')) range.push(Prisma.sql`events.type NOT LIKE '%.%'`)
  return { range: joinConditions(range), rest: joinConditions(rest) }
}

function setsWith(workspaceId: string, ruleId: string): Prisma.Sql {
  return Prisma.sql`
    SELECT id FROM rule_sets WHERE workspace_id = ${workspaceId}::uuid AND ${ruleId}::uuid = ANY (rule_ids)`
}

/** The ids of an event's executions begin with its millisecond (executionIdOf): an index leads to the few of that time. */
export const eventStatus = Prisma.sql`
  CASE
    WHEN events.quarantined THEN 'quarantined'
    WHEN events.done_at IS NULL THEN 'accepted'
    WHEN EXISTS (
      SELECT FROM executions
      WHERE executions.workspace_id = events.workspace_id AND executions.event_id = events.id
        AND executions.id BETWEEN (left(events.id::text, 13) || '-0000-0000-000000000000')::uuid
                              AND (left(events.id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid
        AND executions.finished_at IS NULL
    ) THEN 'running'
    ELSE 'done'
  END`
