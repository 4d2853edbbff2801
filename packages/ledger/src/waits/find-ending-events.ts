import { type Database, firstIdOf } from '@automation/database'
import type { EndingEvent } from '@automation/engine'
import { nothingSeen, type OpenWait } from './open-wait.js'

/** The execution that looks. */
export interface Looking {
  workspaceId: string
  ruleId: string
  ruleVersion: number
  wait: OpenWait
}

/** A page ends where its events take this together (bytes as they are stored), or there are so many. */
const maxBytes = 1_048_576
const pageSize = 20
/** Of the events without a key, which are looked at once. */
const maxUnkeyed = 20_000
/** How much two clocks may differ (ms), where events are looked for by their ids. */
const skewMs = 3_600_000

/** Looks at the next event. @returns false: enough work was done */
export type Visit = (event: EndingEvent) => Promise<boolean>

/**
 * Shows the events that may end a wait and were not looked at, page by page: those with its key, in the order of their commits.
 *
 * The first time it also shows those without a key, because they were done before the rule was what it is now: its execution is for an older
 * event, which waited in a backlog.
 *
 * @returns `seen`, up to which all was looked at, and whether there is more; `isCut`, if some without a key were left out
 */
export async function findEndingEvents(
  database: Pick<Database, 'run'>,
  looking: Looking,
  visit: Visit,
): Promise<{ seen: string; hasMore: boolean; isCut: boolean }> {
  const { key, after, until, ...wait } = looking.wait
  const isCut = wait.seen === nothingSeen && !(await showUnkeyed(database, looking, visit))
  let { seen } = wait
  for (;;) {
    const rows = await database.run<FoundRow>('find_ending_events', findEndingEventsSql, [
      key,
      seen,
      after.acceptedAt,
      after.id,
      until,
      pageSize,
      maxBytes,
    ])
    for (const row of rows) {
      seen = row.keyId
      if (!(await show(row, visit))) return { seen, hasMore: true, isCut }
    }
    if (rows.length === 0) return { seen: seen === nothingSeen ? '0' : seen, hasMore: false, isCut }
  }
}

/** @returns whether all were shown */
async function showUnkeyed(
  database: Pick<Database, 'run'>,
  { workspaceId, ruleId, ruleVersion, wait: { eventType, after, until } }: Looking,
  visit: Visit,
): Promise<boolean> {
  const from = firstIdOf(Math.max(0, after.acceptedAt - skewMs))
  const of = [workspaceId, eventType, ruleId, ruleVersion, from]
  let last: { acceptedAt: number; id: string } = after
  for (let shown = 0; shown < maxUnkeyed; ) {
    const rows = await database.run<FoundRow>('find_unkeyed_events', findUnkeyedEventsSql, [
      ...of,
      after.acceptedAt,
      last.acceptedAt,
      last.id,
      until,
      pageSize,
      maxBytes,
    ])
    for (const row of rows) if (!(await show(row, visit))) return false
    if (rows.length === 0) return true
    last = rows.at(-1) ?? last
    shown += rows.length
  }
  return false
}

async function show({ id, acceptedAt, data }: FoundRow, visit: Visit): Promise<boolean> {
  return data === null || visit({ id, acceptedAt, data: JSON.parse(data) as object })
}

interface FoundRow {
  keyId: string
  id: string
  acceptedAt: number
  /** JSON; null where the event was removed. */
  data: string | null
}

/**
 * The first look begins at the first key that counts: a key may have many older ones. The order of their ids is that of an index, which the fence (OFFSET 0)
 * has Postgres follow.
 *
 * $1 key · $2 the last one that was looked at · $3 and $4 the event before · $5 the end · $6 how many · $7 bytes
 */
const findEndingEventsSql = `
  WITH newer_keys AS (
    SELECT * FROM (
      SELECT id, event_id, accepted_at FROM event_keys
      WHERE key = $1::uuid AND id > CASE WHEN $2::bigint >= 0 THEN $2::bigint ELSE (
        SELECT min(id + 0) - 1 FROM event_keys
        WHERE key = $1::uuid AND accepted_at BETWEEN to_timestamp($3::float8 / 1000)::timestamptz(3)
                                                 AND to_timestamp($5::float8 / 1000)::timestamptz(3)) END
      ORDER BY id OFFSET 0) AS keys
    WHERE accepted_at BETWEEN to_timestamp($3::float8 / 1000)::timestamptz(3)
                          AND to_timestamp($5::float8 / 1000)::timestamptz(3)
      AND (accepted_at, event_id) > (to_timestamp($3::float8 / 1000)::timestamptz(3), $4::uuid)
    ORDER BY id LIMIT $6::int
  ),
  sized_events AS (
    SELECT newer_keys.id AS key_id, newer_keys.event_id, newer_keys.accepted_at, events.data,
           sum(coalesce(pg_column_size(events.data), 0)) OVER (ORDER BY newer_keys.id) AS bytes,
           row_number() OVER (ORDER BY newer_keys.id) AS place
    FROM newer_keys LEFT JOIN events ON events.id = newer_keys.event_id
  )
  SELECT key_id::text AS "keyId", event_id AS id, data::text AS data,
         round(date_part('epoch', accepted_at) * 1000) AS "acceptedAt"
  FROM sized_events WHERE place = 1 OR bytes <= $7::int ORDER BY key_id`

/**
 * $1 workspace · $2 type · $3 and $4 the rule and its version · $5 the lowest id · $6 when the event before was accepted · $7 and $8 the last one that was
 * looked at · $9 the end · $10 how many · $11 bytes
 */
const findUnkeyedEventsSql = `
  WITH sized_events AS (
    SELECT found.*, sum(pg_column_size(data)) OVER (ORDER BY accepted_at, id) AS bytes,
           row_number() OVER (ORDER BY accepted_at, id) AS place
    FROM (
      SELECT events.id, events.accepted_at, events.data
      FROM rule_versions
      JOIN events ON events.workspace_id = rule_versions.workspace_id AND events.id >= $5::uuid
        AND events.id < (lpad(to_hex((extract(epoch FROM rule_versions.created_at) * 1000)::bigint + 3600000), 12, '0')
                         || '70008000000000000000')::uuid
      WHERE rule_versions.workspace_id = $1::uuid AND rule_versions.rule_id = $3::uuid AND rule_versions.version = $4::int
        AND rule_versions.created_at > to_timestamp($6::float8 / 1000) - interval '1 hour'
        AND events.type = $2 AND events.addressee_kind IS NULL AND events.done_at IS NOT NULL AND NOT events.quarantined
        AND events.rules_version < (
          SELECT min(rule_states.rules_version) FROM rule_states
          WHERE rule_states.workspace_id = $1::uuid AND rule_states.rule_id = $3::uuid AND rule_states.version = $4::int)
        AND events.accepted_at <= to_timestamp($9::float8 / 1000)::timestamptz(3)
        AND (events.accepted_at, events.id) > (to_timestamp($7::float8 / 1000)::timestamptz(3), $8::uuid)
      ORDER BY events.accepted_at, events.id LIMIT $10::int) AS found
  )
  SELECT '0' AS "keyId", id, data::text AS data, round(date_part('epoch', accepted_at) * 1000) AS "acceptedAt"
  FROM sized_events WHERE place = 1 OR bytes <= $11::int ORDER BY accepted_at, id`
