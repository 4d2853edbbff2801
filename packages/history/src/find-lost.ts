import { type Database, firstIdOf } from '@automation/database'

/** What a server has and another one lacks. */
export interface LostRow {
  id: string
  workspaceId: string
  at: Date
  what: string
}

export interface LostCall extends LostRow {
  /** Under which it was made, and is made again. */
  idempotencyKey: string
  /** Whether its event is there: then the execution makes it again. */
  isRepeated: boolean
}

/** What an old primary committed and a new one never got, since a time. */
export interface Lost {
  since: Date
  /** Accepted or emitted. */
  events: LostRow[]
  /** Webhooks, with their events: their senders believe that they were accepted. */
  receipts: LostRow[]
  /** Calls and emails that were begun there, and of which nothing is known here. */
  calls: LostCall[]
  /** Entries of audit logs: changes that are undone. */
  changes: LostRow[]
  /** false: of one kind there is more than is listed. */
  isComplete: boolean
}

/** So many rows of each kind are listed: whoever compares from too long ago gets no more than a process can hold. */
export const mostLost = 10_000

/** So many rows of a table in one statement. */
const pageSize = 1_000

/** `ids` reads a page of ids after $1; `rows` what there is of such ids ($1), each with a `key` of its own. */
const kinds = {
  events: ofTable('events', 'accepted_at', 'type'),
  receipts: ofTable('webhook_receipts', 'received_at', `provider || ' ' || key`),
  changes: ofTable('audit_entries', 'at', `actor || ' ' || action || ' ' || subject`),
  calls: {
    ids: pageOf('executions'),
    rows: `
      SELECT id || ':' || place - 1 || ' ' || (attempt->>'startedAt') AS key, id, workspace_id AS "workspaceId",
             (attempt->>'startedAt')::timestamptz AS at, result->>'action' AS what,
             id || ':' || place - 1 AS "idempotencyKey", event_id AS "eventId"
      FROM executions, json_array_elements(results) WITH ORDINALITY AS journal (result, place),
           json_array_elements(result->'attempts') AS attempts (attempt)
      WHERE id = ANY($1::uuid[])`,
  },
}

type KeyedRow = LostRow & { key: string; idempotencyKey: string; eventId: string }

/**
 * Compares an old primary of Postgres, to which nobody is connected, with the one that took over from it. Executions are found by the time
 * at which their event was accepted.
 *
 * @param since epoch ms: before the first commit that may be lost
 */
export async function findLost(
  old: Database,
  present: Database,
  since: number,
  most = mostLost,
): Promise<Lost> {
  const find = (kind: keyof typeof kinds) => findMissing(old, present, kind, firstIdOf(since), most)
  const [events, receipts, changes, calls] = await Promise.all([
    ...(['events', 'receipts', 'changes'] as const).map(find),
    find('calls'),
  ])
  const eventIds = [...new Set(calls?.map(({ eventId }) => eventId))]
  const known = await present.run<{ id: string }>(
    'find_events_of_calls',
    'SELECT id FROM events WHERE id = ANY($1::uuid[])',
    [eventIds],
  )
  const there = new Set(known.map(({ id }) => id))
  const first = (rows: LostRow[] = []) => rows.slice(0, most).map(strip)
  return {
    since: new Date(since),
    events: first(events),
    receipts: first(receipts),
    calls: (calls ?? []).slice(0, most).map((call) => ({
      ...strip(call),
      idempotencyKey: call.idempotencyKey,
      isRepeated: there.has(call.eventId),
    })),
    changes: first(changes),
    isComplete: [events, receipts, calls, changes].every((rows = []) => rows.length <= most),
  }
}

async function findMissing(
  old: Database,
  present: Database,
  kind: keyof typeof kinds,
  first: string,
  most: number,
): Promise<KeyedRow[]> {
  const { ids, rows } = kinds[kind]
  const missing: KeyedRow[] = []
  for (let after = first; ; ) {
    const page = (await old.run<{ id: string }>(`lost_${kind}_ids`, ids, [after, pageSize])).map(
      ({ id }) => id,
    )
    const last = page.at(-1)
    if (last === undefined) return missing
    const there = await old.run<KeyedRow>(`lost_${kind}`, rows, [page])
    const here = new Set((await present.run<KeyedRow>(`lost_${kind}`, rows, [page])).map(({ key }) => key))
    for (const row of there) if (!here.has(row.key)) missing.push(row)
    if (missing.length > most) return missing
    after = last
  }
}

/** Where a server is in the history of its cluster. */
export interface ClusterPlace {
  system: string
  /** Counted up by each promotion; null on a standby. */
  timeline: number | null
}

const placeSql = `
  SELECT system_identifier::text AS system,
         CASE WHEN NOT pg_is_in_recovery()
              THEN ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END AS timeline
  FROM pg_control_system()`

/** @returns undefined where a server keeps it to itself */
export function readClusterPlace({ run }: Database): Promise<ClusterPlace | undefined> {
  return run<ClusterPlace>('read_cluster_place', placeSql, []).then(
    ([place]) => place,
    () => undefined,
  )
}

/** @returns why two servers cannot be compared: neither was a standby of the other, or the second one is the old primary */
export function findMismatch(
  old: ClusterPlace | undefined,
  present: ClusterPlace | undefined,
): 'unrelated' | 'exchanged' | undefined {
  if (old === undefined || present === undefined) return undefined
  if (old.system !== present.system) return 'unrelated'
  const isNewer = old.timeline !== null && present.timeline !== null && old.timeline > present.timeline
  return isNewer ? 'exchanged' : undefined
}

function strip({ id, workspaceId, at, what }: LostRow): LostRow {
  return { id, workspaceId, at, what }
}

function pageOf(table: string): string {
  return `SELECT id FROM ${table} WHERE id > $1::uuid ORDER BY id LIMIT $2`
}

function ofTable(table: string, at: string, what: string) {
  return {
    ids: pageOf(table),
    rows: `
      SELECT id::text AS key, id, workspace_id AS "workspaceId", ${at} AS at, ${what} AS what
      FROM ${table} WHERE id = ANY($1::uuid[]) ORDER BY id`,
  }
}
