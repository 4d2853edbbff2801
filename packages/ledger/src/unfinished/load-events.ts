import type { Database } from '@automation/database'
import { type AddressColumns, type Addressee, addresseeOf } from '../addressee.js'

/** An accepted event that is not done, as a worker loads it. */
export interface LoadedEvent {
  id: string
  workspaceId: string
  type: string
  data: object
  /** null: all active rules of its type. */
  addressee: Addressee | null
  /** The number of EMIT_EVENT actions between it and an event from outside. */
  depth: number
  /** The event from outside that led to it; null for one from outside. */
  rootId: string | null
  /** Of the workspace at this moment: rules compiled at a lower version are out of date. */
  rulesVersion: number
  /** A rule that fails this many times in a row is switched off; null: never. */
  autoPauseAfter: number | null
  /** The creator of the workspace, whose calls share slots; null where it has none. */
  createdBy: string | null
  /** How many workers are known to have ended while they ran it. */
  crashes: number
}

type EventRow = Omit<LoadedEvent, 'addressee'> & AddressColumns

const loadEventsSql = `
  SELECT e.id, e.workspace_id AS "workspaceId", e.type, e.data, e.rule_id AS "ruleId",
         e.subscription_id AS "subscriptionId", e.depth, e.root_id AS "rootId", e.crashes, w.rules_version AS "rulesVersion",
         w.auto_pause_after AS "autoPauseAfter", w.created_by AS "createdBy"
  FROM events e
  JOIN workspaces w ON w.id = e.workspace_id
  WHERE e.id = ANY($1::uuid[]) AND e.done_at IS NULL`

/**
 * Reads the events of jobs.
 *
 * @returns an entry for each id, undefined where the event is done already, as on a second delivery of its job
 */
export async function loadEvents(database: Database, ids: string[]): Promise<(LoadedEvent | undefined)[]> {
  const rows = await database.run<EventRow>('load_events', loadEventsSql, [ids])
  const byId = new Map(rows.map((row) => [row.id, eventOf(row)]))
  return ids.map((id) => byId.get(id))
}

function eventOf({ ruleId, subscriptionId, ...event }: EventRow): LoadedEvent {
  return { ...event, addressee: addresseeOf({ type: event.type, ruleId, subscriptionId }) }
}
