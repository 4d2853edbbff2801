import { firstIdOf, Prisma, type WorkspaceDatabase } from '@automation/database'
import type { Addressee } from '@automation/ledger'
import { joinConditions } from './join-conditions.js'
import { executionsOfEvent, isUndone } from './list-events.js'
import type { ExecutionFilter } from './list-executions.js'
import { type ScannedPage, scanPage } from './scan-page.js'

/** States of the execution of an addressee that has no row of its own: the event has not been processed, or its conditions did not match. */
export const unstartedStatuses = ['pending', 'not_matched'] as const
export type UnstartedStatus = (typeof unstartedStatuses)[number]

/** An event for one rule or subscription. */
export interface UnstartedRow {
  id: string
  workspaceId: string
  type: string
  addresseeKind: Addressee['kind']
  addresseeId: string
  quarantined: boolean
  quarantineReason: string | null
  ruleSetId: string | null
  doneAt: Date | null
}

const columns = Prisma.sql`
  id, workspace_id AS "workspaceId", type, addressee_kind AS "addresseeKind", addressee_id AS "addresseeId", quarantined,
  quarantine_reason AS "quarantineReason", rule_set_id AS "ruleSetId",
  done_at AS "doneAt"`

const conditionOf: Record<UnstartedStatus, Prisma.Sql> = {
  pending: isUndone,
  not_matched: Prisma.sql`(events.done_at IS NOT NULL AND NOT events.quarantined AND events.rule_set_id IS NOT NULL)`,
}

/** It may have a row before its event is done. */
const hasNoRow = Prisma.sql`NOT EXISTS (SELECT FROM executions WHERE ${executionsOfEvent})`

/** Lists executions that have no row, newest first, by the filters of narrowExecutions. A page reads a bounded number of events, and may be short. */
export function listUnstarted(
  database: WorkspaceDatabase,
  workspaceId: string,
  filter: Omit<ExecutionFilter, 'statuses' | 'error'>,
  statuses: readonly UnstartedStatus[],
  page: { before: string | undefined; limit: number },
): Promise<ScannedPage<UnstartedRow>> {
  const { ruleId, subscriptionId, eventId, eventType, from, to } = filter
  const range: [Prisma.Sql, ...Prisma.Sql[]] = [Prisma.sql`events.workspace_id = ${workspaceId}::uuid`]
  const rest: [Prisma.Sql, ...Prisma.Sql[]] = [Prisma.sql`events.addressee_kind IS NOT NULL`]
  if (eventId !== undefined) range.push(Prisma.sql`events.id = ${eventId}::uuid`)
  if (from !== undefined) range.push(Prisma.sql`events.id >= ${firstIdOf(from.getTime())}::uuid`)
  if (to !== undefined) range.push(Prisma.sql`events.id < ${firstIdOf(to.getTime())}::uuid`)
  if (!statuses.includes('not_matched')) range.push(conditionOf.pending)
  rest.push(
    Prisma.sql`(${Prisma.join(
      statuses.map((status) => conditionOf[status]),
      ' OR ',
    )})`,
  )
  rest.push(hasNoRow)
  if (ruleId !== undefined) rest.push(Prisma.sql`events.addressee_id = ${ruleId}::uuid`)
  if (subscriptionId !== undefined)
    rest.push(
      Prisma.sql`events.addressee_id = ${subscriptionId}::uuid AND events.addressee_kind = 'subscription'`,
    )
  if (eventType !== undefined) rest.push(Prisma.sql`events.type = ${eventType}`)
  const isNamed = [ruleId, subscriptionId, eventId, eventType].some((value) => value !== undefined)
  if (!isNamed) range.push(Prisma.sql`events.addressee_kind IS DISTINCT FROM 'subscription'`)
  const narrowing = { range: joinConditions(range), rest: joinConditions(rest) }
  return scanPage<UnstartedRow>(database, Prisma.sql`events`, columns, narrowing, page)
}
