import type { Database } from '@automation/database'
import type { LoadedEvent } from './load-events.js'

/** What led to an event that an execution emitted. */
export interface Origin {
  /** Events that the same event from outside has caused, counted up to a limit; null where they were not to be counted. */
  descendants: number | null
  /** True where the rule that emitted it is switched off or deleted. A rule that was executed by hand runs active or not. */
  isCauseOff: boolean
}

/** $1 event ids · $2 roots, one for each of $1, null where its tree is not counted · $3 limit of the count */
const findOriginsSql = `
  WITH input_events AS (
    SELECT * FROM unnest($1::uuid[], $2::uuid[]) AS input_events (id, root_id)
  ),
  trees AS (
    SELECT root_id, (
      SELECT count(*)::int FROM (SELECT FROM events WHERE events.root_id = roots.root_id LIMIT $3) AS counted
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
  const rows = await database.run<Origin & { id: string }>('find_origins', findOriginsSql, [
    events.map(({ id }) => id),
    events.map(({ rootId }) => rootId),
    limit,
  ])
  const byId = new Map<string, Origin>()
  // Two executions of one event may ask at once, and only one of them for the count.
  for (const row of rows) if ((byId.get(row.id)?.descendants ?? null) === null) byId.set(row.id, row)
  return events.map(({ id }) => byId.get(id) ?? { descendants: null, isCauseOff: false })
}
