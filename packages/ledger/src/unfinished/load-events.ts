import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Database, idRangeOf } from '@automation/database'
import { type AddressColumns, type Addressee, addresseeOf } from '../addressee.js'
import { isSuspendedSql } from '../parking/is-suspended.js'
import { heapBytesOf } from './heap-bytes.js'

/** An accepted event that is not done, as a worker loads it. */
export interface LoadedEvent {
  id: string
  workspaceId: string
  type: string
  data: object
  /** About what its data takes in memory. */
  heapBytes: number
  /** Epoch ms: its conditions are evaluated at this moment, whenever a worker does it. */
  acceptedAt: number
  /** null: all active rules of its type. */
  addressee: Addressee | null
  /** Of a replay, the rules that a person has chosen; null: all. No execution asks for them. */
  chosenRuleIds?: string[] | null | undefined
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
}

/** `data` is JSON, and null where the event has to be isolated. */
type EventRow = Omit<LoadedEvent, 'addressee' | 'data' | 'heapBytes'> &
  AddressColumns & { data: string | null }

/**
 * The event of a workspace that is suspended is not loaded: the sweeper parks it.
 *
 * $1 events · $2 whether their data is returned even where a worker may have ended because of it · $3 and $4 between which ids they lie
 */
const loadEventsSql = `
  SELECT e.id, e.workspace_id AS "workspaceId", e.type, CASE WHEN e.crashes = 0 OR $2::boolean THEN e.data::text END AS data, e.addressee_kind AS "addresseeKind",
         e.addressee_id AS "addresseeId", e.chosen_rule_ids AS "chosenRuleIds", e.depth, e.root_id AS "rootId",
         round(date_part('epoch', e.accepted_at) * 1000) AS "acceptedAt", workspaces.rules_version AS "rulesVersion",
         workspaces.auto_pause_after AS "autoPauseAfter", workspaces.created_by AS "createdBy"
  FROM events e
  JOIN workspaces ON workspaces.id = e.workspace_id
  WHERE e.id = ANY($1::uuid[]) AND e.id >= $3::uuid AND e.id <= $4::uuid AND e.done_at IS NULL AND NOT ${isSuspendedSql}`

/**
 * Reads the events of jobs.
 *
 * @returns an entry for each id: `isolate` where a worker has ended that ran the event, which is loaded alone (loadIsolated); undefined
 * where the event is done already, as on a second delivery of its job, or its workspace is suspended
 */
export async function loadEvents(
  database: Database,
  ids: string[],
): Promise<(LoadedEvent | 'isolate' | undefined)[]> {
  const rows = await load(database, ids, false)
  const events = await parseInTurns(rows, eventOf)
  const byId = new Map(rows.map(({ id }, index) => [id, events[index] ?? ('isolate' as const)]))
  return ids.map((id) => byId.get(id))
}

/** Reads one event that is isolated. @returns undefined where it is done already */
export async function loadIsolated(database: Database, id: string): Promise<LoadedEvent | undefined> {
  const [row] = await load(database, [id], true)
  return row && eventOf(row)
}

function load(database: Database, ids: string[], isIsolated: boolean): Promise<EventRow[]> {
  return database.run<EventRow>('load_events', loadEventsSql, [ids, isIsolated, ...idRangeOf(ids)])
}

/** Names each field: to spread the row takes 8 µs of an event, and this takes one. */
function eventOf(row: EventRow): LoadedEvent | undefined {
  if (row.data === null) return undefined
  const { data, heapBytes } = parseData(row.data)
  return {
    id: row.id,
    workspaceId: row.workspaceId,
    type: row.type,
    data,
    heapBytes,
    acceptedAt: row.acceptedAt,
    addressee: addresseeOf(row),
    chosenRuleIds: row.chosenRuleIds,
    depth: row.depth,
    rootId: row.rootId,
    rulesVersion: row.rulesVersion,
    autoPauseAfter: row.autoPauseAfter,
    createdBy: row.createdBy,
  }
}

/** After so many characters others have a turn of the event loop. */
const sliceLength = 1_048_576

/** Parses rows one after another. Nothing refers to the text of a row that is parsed. */
export async function parseInTurns<Row extends { data: string | null }, Parsed>(
  rows: Row[],
  parse: (row: Row) => Parsed,
): Promise<Parsed[]> {
  const parsed: Parsed[] = []
  let length = 0
  for (const row of rows) {
    if (length > sliceLength) {
      await nextTurn()
      length = 0
    }
    length += row.data?.length ?? 0
    parsed.push(parse(row))
    row.data = ''
  }
  return parsed
}

/** A shorter text is not weighed: a thousand of them take little in any case. */
const lightLength = 4_096

/** @param text JSON of an event's data */
export function parseData(text: string): { data: object; heapBytes: number } {
  return {
    data: JSON.parse(text) as object,
    heapBytes: text.length < lightLength ? text.length : heapBytesOf(text),
  }
}
