import { Prisma, type WorkspaceTransaction } from '@automation/database'

/**
 * Notes what rules are from the `rulesVersion` on that this transaction makes: their version, and whether they are active. Every change
 * of rules calls this, after it has written them, or before it deletes them. It needs the lock of the workspace.
 */
export async function noteStates(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  ruleIds: string[],
  isDeleted = false,
): Promise<void> {
  if (ruleIds.length === 0) return
  await transaction.$executeRaw(Prisma.sql`
    INSERT INTO rule_states (workspace_id, rule_id, rules_version, version, is_active, is_deleted, at)
    SELECT rules.workspace_id, rules.id, workspaces.rules_version + 1, rules.version,
           rules.is_active AND NOT ${isDeleted}::boolean, ${isDeleted}::boolean,
           CASE WHEN ${isDeleted}::boolean THEN now() ELSE rules.updated_at END
    FROM rules JOIN workspaces ON workspaces.id = rules.workspace_id
    WHERE workspaces.id = ${workspaceId}::uuid AND rules.id = ANY (${ruleIds}::uuid[])
    ON CONFLICT (workspace_id, rule_id, rules_version)
    DO UPDATE SET version = excluded.version, is_active = excluded.is_active, is_deleted = excluded.is_deleted, at = excluded.at`)
}
