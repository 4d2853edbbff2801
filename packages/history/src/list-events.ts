import { clockSkewMs, idNear, Prisma, type WorkspaceDatabase } from '@automation/database'
import type { Addressee, Narrowing } from '@automation/ledger'
import { joinConditions } from './join-conditions.js'
import { type ScannedPage, scanPage } from './scan-page.js'

/** How far an event has come; see EventStatus in the API. */
export type EventState = 'accepted' | 'running' | 'done' | 'quarantined'

export interface EventFilter {
  type?: string
  /** A rule that was considered for it, or the subscription that it was delivered to. */
  ruleId?: string
  /** The subscription that it was delivered to. */
  subscriptionId?: string
  ids?: readonly string[]
  /** When it was accepted: from then on. */
  from?: Date
  /** When it was accepted: before then. */
  to?: Date
  status?: EventState
}

/** An event without its data. */
export interface EventRow {
  id: string
  workspaceId: string
  type: string
  /** The addressee's, a rule's or a subscription's. */
  addresseeId: string | null
  /** Whether it is a subscription's. */
  addresseeKind: Addressee['kind'] | null
  depth: number
  causedBy: string | null
  replayOf: string | null
  /** The rules of a replay; none: all. */
  chosenRuleIds: string[] | null
  crashes: number
  quarantined: boolean
  quarantineReason: string | null
  acceptedAt: Date
  doneAt: Date | null
  erasedAt: Date | null
}

export interface ListedEventRow extends EventRow {
  status: EventState
  /** The number of rules considered. */
  triggered: number
  progress: EventProgress
}

/** What became of the rules that matched. */
export interface EventProgress {
  matched: number
  suppressed: number
  failed: number
  /** When the next of its executions continues; null if one is in progress now, or none waits. epoch ms */
  continuesMs: number | null
}

/** Few of all events are not done. Two indexes have them: those of suspended workspaces are parked. */
export const isUndone = Prisma.sql`
  (events.done_at IS NULL AND events.parked IS NULL OR events.done_at IS NULL AND events.parked)`

/** Deliveries to subscriptions are listed only where the filter names a subscription, their type or themselves. */
export function narrowEvents(
  workspaceId: string,
  { type, ruleId, subscriptionId, ids, from, to, status }: EventFilter,
): Narrowing {
  const range: [Prisma.Sql, ...Prisma.Sql[]] = [Prisma.sql`events.workspace_id = ${workspaceId}::uuid`]
  const rest: Prisma.Sql[] = []
  if (ids !== undefined) range.push(Prisma.sql`events.id = ANY (${ids}::uuid[])`)
  if (from !== undefined) {
    range.push(Prisma.sql`events.id >= ${idNear(from, -clockSkewMs)}::uuid`)
    range.push(Prisma.sql`events.accepted_at >= ${from}`)
  }
  if (to !== undefined) {
    range.push(Prisma.sql`events.id < ${idNear(to, clockSkewMs)}::uuid`)
    range.push(Prisma.sql`events.accepted_at < ${to}`)
  }
  if (status === 'accepted') range.push(isUndone)
  else if (status !== undefined) rest.push(Prisma.sql`${eventState} = ${status}`)
  if (type !== undefined) rest.push(Prisma.sql`events.type = ${type}`)
  if (ruleId !== undefined)
    rest.push(Prisma.sql`(
      events.addressee_id = ${ruleId}::uuid
      OR (events.chosen_rule_ids IS NULL OR ${ruleId}::uuid = ANY (events.chosen_rule_ids)) AND events.rule_set_id IN (
        SELECT id FROM rule_sets WHERE workspace_id = ${workspaceId}::uuid AND ${ruleId}::uuid = ANY (rule_ids)))`)
  if (subscriptionId !== undefined)
    rest.push(
      Prisma.sql`events.addressee_id = ${subscriptionId}::uuid AND events.addressee_kind = 'subscription'`,
    )
  if ([ruleId, subscriptionId, ids, type].every((value) => value === undefined))
    range.push(Prisma.sql`events.addressee_kind IS DISTINCT FROM 'subscription'`)
  return { range: joinConditions(range), rest: joinConditions(rest) }
}

/** The ids of an event's executions begin with its millisecond (executionIdOf): an index leads to the few of that time. */
export const executionsOfEvent = Prisma.sql`
  executions.workspace_id = events.workspace_id AND executions.event_id = events.id
  AND executions.id BETWEEN (left(events.id::text, 13) || '-0000-0000-000000000000')::uuid
                        AND (left(events.id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid`

const eventState = Prisma.sql`
  CASE
    WHEN events.quarantined THEN 'quarantined'
    WHEN events.done_at IS NULL THEN 'accepted'
    WHEN EXISTS (
      SELECT FROM executions WHERE ${executionsOfEvent} AND executions.finished_at IS NULL
    ) THEN 'running'
    ELSE 'done'
  END`

const progress = Prisma.sql`(
  SELECT json_build_object(
    'matched', count(*), 'suppressed', count(*) FILTER (WHERE status = 'suppressed'),
    'failed', count(*) FILTER (WHERE status = 'failed'),
    'continuesMs', CASE WHEN count(*) FILTER (WHERE status = 'running') = 0 THEN floor(extract(epoch FROM min(due_at)) * 1000) END)
  FROM executions WHERE ${executionsOfEvent})`

const columns = Prisma.sql`
  id, workspace_id AS "workspaceId", type, addressee_kind AS "addresseeKind", addressee_id AS "addresseeId", depth, caused_by AS "causedBy",
  replay_of AS "replayOf", chosen_rule_ids AS "chosenRuleIds", crashes, quarantined, quarantine_reason AS "quarantineReason", ${eventState} AS status, ${progress} AS progress, accepted_at AS "acceptedAt", done_at AS "doneAt", erased_at AS "erasedAt",
  CASE
    WHEN rule_set_id IS NULL THEN 0
    WHEN addressee_kind IS NOT NULL THEN 1
    ELSE (SELECT cardinality(rule_ids) FROM rule_sets
          WHERE rule_sets.workspace_id = events.workspace_id AND rule_sets.id = events.rule_set_id)
  END AS triggered`

export function listEvents(
  database: WorkspaceDatabase,
  narrowing: Narrowing,
  page: { before: string | undefined; limit: number },
): Promise<ScannedPage<ListedEventRow>> {
  return scanPage<ListedEventRow>(database, Prisma.sql`events`, columns, narrowing, page)
}

/** Lists some events, newest first, of any type. */
export function listEventsByIds(
  database: WorkspaceDatabase,
  workspaceId: string,
  ids: string[],
): Promise<ListedEventRow[]> {
  return database.$queryRaw<ListedEventRow[]>(Prisma.sql`
    SELECT ${columns} FROM events
    WHERE workspace_id = ${workspaceId}::uuid AND id = ANY (${ids}::uuid[]) ORDER BY id DESC`)
}

/** Reads what became of one event. */
export async function readProgress(
  database: WorkspaceDatabase,
  workspaceId: string,
  id: string,
): Promise<EventProgress> {
  const [row] = await database.$queryRaw<{ progress: EventProgress }[]>(Prisma.sql`
    SELECT ${progress} AS progress FROM events WHERE workspace_id = ${workspaceId}::uuid AND id = ${id}::uuid`)
  return row?.progress ?? { matched: 0, suppressed: 0, failed: 0, continuesMs: null }
}
