import { Refused } from '@automation/access'
import { Prisma, type WorkspaceTransaction } from '@automation/database'
import { readWaitedPaths } from '@automation/engine'

/** Each event of a type has a key for each of them. */
export const maxWaited = 50

/**
 * Selects the sets of paths that WAITs of a workspace match of events of a type, those of the newest versions first. All versions count, also of rules that
 * are off: an execution goes on with the version that it began with, and one by hand runs a rule that is off. The first condition is that of an index, which
 * has hardly any other versions.
 */
export function selectWaitedPaths(workspaceId: string, type: string): Prisma.Sql {
  return Prisma.sql`
    SELECT waited.paths
    FROM rule_versions
    CROSS JOIN LATERAL jsonb_path_query(actions::jsonb, '$[*] ? (@.type == "WAIT").config.for') AS awaited
    CROSS JOIN LATERAL (
      SELECT array_agg(path ORDER BY path COLLATE "C") AS paths FROM jsonb_object_keys(
        CASE WHEN jsonb_typeof(awaited->'match') = 'object' THEN awaited->'match' ELSE '{}' END) AS path
    ) AS waited
    WHERE (actions)::text ~~ '%"for":%'::text AND workspace_id = ${workspaceId}::uuid AND awaited->>'eventType' = ${type}
    GROUP BY waited.paths
    ORDER BY max(created_at) DESC, waited.paths
    LIMIT ${maxWaited}::int`
}

/** Of rules about to be saved: beyond the limit an event would not end all WAITs that wait for it. It needs the lock of the workspace. */
export async function refuseManyWaits(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  rules: { actions: unknown }[],
): Promise<void> {
  const wanted = new Map<string, Set<string>>()
  for (const { type, paths } of rules.flatMap(({ actions }) => readWaitedPaths(actions))) {
    const known = wanted.get(type) ?? new Set()
    wanted.set(type, known.add(JSON.stringify(paths)))
  }
  for (const [type, texts] of wanted) {
    const rows = await transaction.$queryRaw<{ paths: string[] }[]>(selectWaitedPaths(workspaceId, type))
    for (const { paths } of rows) texts.add(JSON.stringify(paths.toSorted()))
    if (texts.size > maxWaited)
      throw new Refused(
        'limit_reached',
        `The WAITs of a workspace may match ${maxWaited} different sets of fields of events of type ${type}. Versions of rules that are kept count, too`,
      )
  }
}
