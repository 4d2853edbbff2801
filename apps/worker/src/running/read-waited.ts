import { type Database, waitKeyOf } from '@automation/database'
import { readMatch, writeMatch } from '@automation/engine'
import type { LoadedEvent } from '@automation/ledger'

/** Each event of the type has a key for each of them. */
export const maxWaited = 50

/**
 * The first condition is that of an index, which has hardly any other versions. All versions count, also of rules that are off: an execution goes on with the
 * version that it began with, and one by hand runs a rule that is off.
 *
 * $1 workspace · $2 type · $3 how many
 */
const readWaitedSql = `
  SELECT waited.paths
  FROM rule_versions
  CROSS JOIN LATERAL jsonb_path_query(actions::jsonb, '$[*] ? (@.type == "WAIT").config.for') AS awaited
  CROSS JOIN LATERAL (
    SELECT array_agg(path ORDER BY path COLLATE "C") AS paths FROM jsonb_object_keys(
      CASE WHEN jsonb_typeof(awaited->'match') = 'object' THEN awaited->'match' ELSE '{}' END) AS path
  ) AS waited
  WHERE (actions)::text ~~ '%"for":%'::text AND workspace_id = $1::uuid AND awaited->>'eventType' = $2
  GROUP BY waited.paths
  ORDER BY max(created_at) DESC, waited.paths
  LIMIT $3::int`

/** Reads what WAITs of a workspace match of events of a type. */
export async function readWaited(
  database: Pick<Database, 'run'>,
  workspaceId: string,
  type: string,
): Promise<string[][]> {
  const rows = await database.run<{ paths: string[] }>('read_waited', readWaitedSql, [
    workspaceId,
    type,
    maxWaited,
  ])
  return rows.map(({ paths }) => paths)
}

/** What an event has that a WAIT may wait for; undefined where there is nothing. One that is for a single rule ends no WAIT. */
export function listWaitKeys(
  { workspaceId, type, data, addressee }: LoadedEvent,
  waited: readonly (readonly string[])[],
): string[] | undefined {
  if (waited.length === 0 || addressee !== null) return undefined
  const keys = waited.flatMap((paths) => {
    const match = readMatch(paths, data)
    return match === undefined ? [] : [waitKeyOf(workspaceId, writeMatch(type, match))]
  })
  return keys.length === 0 ? undefined : keys
}
