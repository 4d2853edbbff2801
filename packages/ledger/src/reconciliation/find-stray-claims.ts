import { Prisma } from '@automation/database'
import { faultOf, type Inconsistency, type Slice, type Snapshot } from './slice.js'

/** An event counts for a limit of its rule by the execution that was granted, or for a count by one that was recorded at all. */
export async function findStrayClaims(
  snapshot: Snapshot,
  { workspaceId, from, to, keptSince }: Slice,
): Promise<Inconsistency[]> {
  const isOwn =
    workspaceId === undefined ? Prisma.sql`true` : Prisma.sql`claims.workspace_id = ${workspaceId}::uuid`
  const [row] = await snapshot.$queryRaw<[{ fault: Inconsistency }]>(Prisma.sql`
    SELECT ${faultOf('claim_without_execution', Prisma.sql`true`)} AS fault
    FROM (
      SELECT claims.execution_id AS id FROM key_claims AS claims
      WHERE claims.execution_id >= ${from}::uuid AND claims.execution_id < ${to}::uuid
        AND claims.execution_id >= ${keptSince}::uuid AND ${isOwn}
        AND NOT EXISTS (
          SELECT FROM executions
          WHERE executions.id = claims.execution_id AND executions.workspace_id = claims.workspace_id
            AND NOT (claims.is_granted AND executions.status = 'suppressed'))
    ) AS strays`)
  return [row.fault]
}
