import { type Database, idNear, idRangeOf, timeOf } from '@automation/database'
import type { LoadedEvent } from './load-events.js'

/** What led to an event that an execution emitted. */
export interface Origin {
  /** Events that the same event from outside has caused, counted up to a limit; null where they were not to be counted. */
  descendants: number | null
  /** True where the rule that emitted it is switched off or deleted. A rule that was executed by hand runs active or not. */
  isCauseOff: boolean
}

/**
 * How much older (ms) than its root the id of an event is at most. It was emitted later, but its id has the time of a worker, and the root's mostly that of
 * an API. So even the events of one whose clock was a week ahead are counted.
 */
const clockErrorMs = 8 * 24 * 60 * 60 * 1_000

/** $1 event ids · $2 roots, one for each of $1, null where its tree is not counted · $3 limit of the count · $4 the lowest id of their trees */
const findOriginsSql = `
  WITH input_events AS (
    SELECT * FROM unnest($1::uuid[], $2::uuid[]) AS input_events (id, root_id)
  ),
  trees AS (
    SELECT root_id, (
      SELECT count(*)::int FROM (SELECT FROM events WHERE events.root_id = roots.root_id AND events.id >= $4::uuid LIMIT $3) AS counted
    ) AS descendants
    FROM (SELECT DISTINCT root_id FROM input_events WHERE root_id IS NOT NULL) AS roots
  )
  -- Not joined: while statistics are those of empty tables, a join would read all executions.
  SELECT i.id, trees.descendants, coalesce((
           SELECT causes.id <> causes.event_id
                  AND (SELECT rules.is_active FROM rules WHERE rules.id = causes.handler_id) IS NOT TRUE
           FROM executions causes
           WHERE causes.id = (SELECT events.caused_by FROM events WHERE events.id = i.id)
           -- Retention may have removed the cause, which says nothing of its rule.
         ), false) AS "isCauseOff"
  FROM input_events i
  LEFT JOIN trees USING (root_id)`

/**
 * @param events with the root of each whose tree is to be counted, null for the others: a count reads up to `limit` rows
 * @returns an origin for each event
 */
export async function findOrigins(
  database: Database,
  events: Pick<LoadedEvent, 'id' | 'rootId'>[],
  limit: number,
): Promise<Origin[]> {
  const roots = events.map(({ rootId }) => rootId)
  const [oldest] = idRangeOf(roots.filter((rootId) => rootId !== null))
  const rows = await database.run<Origin & { id: string }>('find_origins', findOriginsSql, [
    events.map(({ id }) => id),
    roots,
    limit,
    idNear(new Date(timeOf(oldest)), -clockErrorMs),
  ])
  const byId = new Map<string, Origin>()
  // Two executions of one event may ask at once, and only one of them for the count.
  for (const row of rows) if ((byId.get(row.id)?.descendants ?? null) === null) byId.set(row.id, row)
  return events.map(({ id }) => byId.get(id) ?? { descendants: null, isCauseOff: false })
}
