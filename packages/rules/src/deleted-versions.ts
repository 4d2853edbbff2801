import { Prisma, type WorkspaceTransaction } from '@automation/database'
import { rowBytes } from './rule-fields.js'

/** Of what is stored of the versions of deleted rules in one workspace. */
const maxDeletedBytes = 67_108_864

/** Keeps the versions of rules that are about to be deleted, for the events that considered them. The oldest go beyond a limit. */
export async function keepVersions(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  ruleIds: string[],
): Promise<void> {
  await transaction.$executeRaw(Prisma.sql`
    INSERT INTO deleted_rule_versions
      (workspace_id, rule_id, version, name, trigger, group_name, group_order, schedule, per_key, conditions, actions, created_at,
       bytes)
    SELECT workspace_id, rule_id, version, name, trigger, group_name, group_order, schedule, per_key, conditions, actions, created_at,
           octet_length(name) + octet_length(trigger) + octet_length(conditions::text) + octet_length(actions::text) +
           coalesce(octet_length(per_key::text), 0) + ${rowBytes}::int
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
