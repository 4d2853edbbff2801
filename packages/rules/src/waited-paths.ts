import { Refused } from '@automation/access'
import { Prisma, type WorkspaceTransaction } from '@automation/database'

/** Each event of a type has a key for each of them. */
const maxWaited = 50

/**
 * Selects the sets of paths that WAITs of a workspace match of events of a type, those of the newest versions first. Earlier versions count as long as
 * an execution may go on with them, and rules that are off, since a person may execute them (createAwaitsRemoval in the ledger).
 */
export function selectWaitedPaths(workspaceId: string, type: string): Prisma.Sql {
  return Prisma.sql`
    SELECT paths
    FROM rule_versions CROSS JOIN LATERAL json_to_recordset(awaits) AS awaited (type text, paths text[])
    WHERE workspace_id = ${workspaceId}::uuid AND awaits IS NOT NULL AND awaited.type = ${type}
    GROUP BY paths
    ORDER BY max(created_at) DESC, paths
    LIMIT ${maxWaited}::int`
}

/** Beyond the limit an event would not end all WAITs that wait for it. It needs the lock of the workspace. @param saved versions that were just stored */
export async function refuseManyWaits(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  saved: readonly { awaits: unknown }[],
): Promise<void> {
  if (saved.every(({ awaits }) => awaits === Prisma.DbNull)) return
  const [excess] = await transaction.$queryRaw<{ type: string }[]>`
    SELECT awaited.type
    FROM rule_versions CROSS JOIN LATERAL json_to_recordset(awaits) AS awaited (type text, paths text[])
    WHERE workspace_id = ${workspaceId}::uuid AND awaits IS NOT NULL
    GROUP BY awaited.type HAVING count(DISTINCT paths) > ${maxWaited}::int LIMIT 1`
  if (excess !== undefined)
    throw new Refused(
      'limit_reached',
      `The WAITs of a workspace may match ${maxWaited} different sets of fields of events of type ${excess.type}. An earlier version of a rule counts, too, as long as an execution of it may go on`,
    )
}
