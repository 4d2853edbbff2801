import { setImmediate as nextTurn } from 'node:timers/promises'
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

/** An event may have a megabyte. */
const pageSize = 20
const maxPages = 50
/** How much two clocks may differ (ms), where events are looked for by their ids. */
const skewMs = 60_000

/**
 * Finds the events that may end a wait and were not looked at: those with its key, in the order of their commits. The caller evaluates them.
 *
 * The first time it also finds those without a key, because they were done before the rule was what it is now: its execution is for an older
 * event, which waited in a backlog.
 *
 * @returns `seen`, up to which all was looked at, and whether there is more
 */
export async function findEndingEvents(
  database: Pick<Database, 'run'>,
  { workspaceId, ruleId, ruleVersion, wait }: Looking,
): Promise<{ events: EndingEvent[]; seen: string; hasMore: boolean }> {
  const { key, eventType, after, until } = wait
  const bounds = [after.acceptedAt, after.id, until]
  const events: EndingEvent[] = []
  if (wait.seen === nothingSeen) {
    const from = firstIdOf(Math.max(0, after.acceptedAt - skewMs))
    const of = [workspaceId, eventType, ruleId, ruleVersion, from]
    const rows = await database.run<FoundRow>('find_unkeyed_events', findUnkeyedEventsSql, [...of, ...bounds])
    events.push(...readRows(rows))
  }
  let seen = wait.seen === nothingSeen ? '0' : wait.seen
  for (let page = 0; page < maxPages; page++) {
    const rows = await database.run<FoundRow>('find_ending_events', findEndingEventsSql, [
      key,
      seen,
      ...bounds,
      pageSize,
    ])
    events.push(...readRows(rows))
    seen = rows.at(-1)?.keyId ?? seen
    if (rows.length < pageSize) return { events, seen, hasMore: false }
    await nextTurn()
  }
  return { events, seen, hasMore: true }
}

interface FoundRow {
  keyId: string
  id: string
  acceptedAt: number
  /** JSON; null where the event was removed. */
  data: string | null
}

function readRows(rows: readonly FoundRow[]): EndingEvent[] {
  return rows.flatMap(({ id, acceptedAt, data }) =>
    data === null ? [] : [{ id, acceptedAt, data: JSON.parse(data) as object }],
  )
}

/** $1 key · $2 the last one that was looked at · $3 and $4 the event before · $5 the end · $6 how many */
const findEndingEventsSql = `
  SELECT event_keys.id::text AS "keyId", event_keys.event_id AS id, events.data::text AS data,
         round(date_part('epoch', event_keys.accepted_at) * 1000) AS "acceptedAt"
  FROM event_keys LEFT JOIN events ON events.id = event_keys.event_id
  WHERE event_keys.key = $1::uuid AND event_keys.id > $2::bigint
    AND event_keys.accepted_at BETWEEN to_timestamp($3::float8 / 1000)::timestamptz(3)
                                   AND to_timestamp($5::float8 / 1000)::timestamptz(3)
    AND (event_keys.accepted_at, event_keys.event_id) > (to_timestamp($3::float8 / 1000)::timestamptz(3), $4::uuid)
  ORDER BY event_keys.id LIMIT $6::int`

/** $1 workspace · $2 type · $3 and $4 the rule and its version · $5 the lowest id · $6 and $7 the event before · $8 the end */
const findUnkeyedEventsSql = `
  SELECT '0' AS "keyId", events.id, events.data::text AS data,
         round(date_part('epoch', events.accepted_at) * 1000) AS "acceptedAt"
  FROM rule_versions
  JOIN events ON events.workspace_id = rule_versions.workspace_id AND events.id >= $5::uuid
    AND events.id < (lpad(to_hex((extract(epoch FROM rule_versions.created_at) * 1000)::bigint + 60000), 12, '0')
                     || '70008000000000000000')::uuid
  WHERE rule_versions.workspace_id = $1::uuid AND rule_versions.rule_id = $3::uuid AND rule_versions.version = $4::int
    AND rule_versions.created_at > to_timestamp($6::float8 / 1000) - interval '1 minute'
    AND events.type = $2 AND events.rule_id IS NULL AND events.done_at IS NOT NULL AND NOT events.quarantined
    AND events.rules_version < (
      SELECT min(rule_states.rules_version) FROM rule_states
      WHERE rule_states.workspace_id = $1::uuid AND rule_states.rule_id = $3::uuid AND rule_states.version = $4::int)
    AND events.accepted_at <= to_timestamp($8::float8 / 1000)::timestamptz(3)
    AND (events.accepted_at, events.id) > (to_timestamp($6::float8 / 1000)::timestamptz(3), $7::uuid)
  ORDER BY events.accepted_at, events.id LIMIT 1000`
