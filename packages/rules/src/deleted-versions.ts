import { columnOf, keptFields, Prisma, sizeFields, type WorkspaceTransaction } from '@automation/database'
import { rowBytes } from './rule-fields.js'

/** Of what is stored of the versions of deleted rules in one workspace. */
const maxDeletedBytes = 67_108_864

/** Keeps the versions of rules that are about to be deleted, for the events that considered them. The oldest go beyond a limit. */
export async function keepVersions(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  ruleIds: string[],
): Promise<void> {
  const kept = Prisma.raw(keptFields.map(columnOf).join())
  await transaction.$executeRaw(Prisma.sql`
    INSERT INTO deleted_rule_versions (workspace_id, rule_id, version, ${kept}, created_at, bytes)
    SELECT workspace_id, rule_id, version, ${kept}, created_at, ${Prisma.raw(sizeFields(keptFields))} + ${rowBytes}::int
    FROM rule_versions WHERE workspace_id = ${workspaceId}::uuid AND rule_id = ANY (${ruleIds}::uuid[])
    ON CONFLICT DO NOTHING`)
  await transaction.$executeRaw(Prisma.sql`
    DELETE FROM deleted_rule_versions AS versions
    USING (
      SELECT rule_id, version, sum(bytes) OVER (ORDER BY deleted_at DESC, rule_id, version DESC) AS bytes_after
      FROM deleted_rule_versions WHERE workspace_id = ${workspaceId}::uuid
    ) AS sums
    WHERE versions.workspace_id = ${workspaceId}::uuid AND versions.rule_id = sums.rule_id
      AND versions.version = sums.version AND sums.bytes_after > ${maxDeletedBytes}::bigint`)
}
