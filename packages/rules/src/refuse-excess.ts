import { Refused } from '@automation/access'
import { Prisma, sizeFields, type WorkspaceTransaction } from '@automation/database'
import { removeExcessVersions } from '@automation/ledger'

/** Of all rules of a workspace: workers hold them in memory, and a list shows them all. */
export const maxDefinitionBytes = 16_777_216
/** Of all versions of a workspace, those of its present rules included. */
const maxVersionBytes = 67_108_864
/** Removed beyond what is needed, so that the next saves need not remove again. */
const spareBytes = maxVersionBytes / 8

/** @throws Refused where the definitions and drafts of the workspace take more than 16 MiB together */
export async function refuseExcessBytes(
  transaction: WorkspaceTransaction,
  workspaceId: string,
): Promise<void> {
  const size = Prisma.raw(sizeFields())
  const [{ bytes } = { bytes: 0 }] = await transaction.$queryRaw<{ bytes: number }[]>(Prisma.sql`
    SELECT coalesce(sum(size), 0)::float8 AS bytes
    FROM (
      SELECT ${size} AS size FROM rules WHERE workspace_id = ${workspaceId}::uuid
      UNION ALL
      SELECT ${size} FROM rule_drafts WHERE workspace_id = ${workspaceId}::uuid
    ) AS definitions`)
  if (bytes > maxDefinitionBytes)
    throw new Refused(
      'limit_reached',
      'The rules of a workspace and their drafts may have at most 16 MiB together, as JSON',
    )
}

/**
 * Removes the oldest versions that nothing needs where all together take more than 64 MiB.
 *
 * @throws Refused where what is needed takes more
 */
export async function refuseExcessVersions(
  transaction: WorkspaceTransaction,
  workspaceId: string,
): Promise<void> {
  const [{ bytes } = { bytes: 0 }] = await transaction.$queryRaw<{ bytes: number }[]>(Prisma.sql`
    SELECT coalesce(sum(bytes), 0)::float8 AS bytes FROM rule_versions WHERE workspace_id = ${workspaceId}::uuid`)
  const excess = bytes - maxVersionBytes
  if (excess <= 0) return
  const removed = await removeExcessVersions(transaction, workspaceId, excess + spareBytes)
  if (removed < excess)
    throw new Refused(
      'limit_reached',
      'The versions of the rules of a workspace may have at most 64 MiB together, as JSON. The oldest are removed first, but not those of the last hour and not those of stored executions',
    )
}
