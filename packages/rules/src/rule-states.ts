import { type Database, Prisma, type WorkspaceTransaction } from '@automation/database'

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
    INSERT INTO rule_states (workspace_id, rule_id, rules_version, version, is_active, is_deleted)
    SELECT rules.workspace_id, rules.id, workspaces.rules_version + 1, rules.version,
           rules.is_active AND NOT ${isDeleted}::boolean, ${isDeleted}::boolean
    FROM rules JOIN workspaces ON workspaces.id = rules.workspace_id
    WHERE workspaces.id = ${workspaceId}::uuid AND rules.id = ANY (${ruleIds}::uuid[])
    ON CONFLICT (workspace_id, rule_id, rules_version)
    DO UPDATE SET version = excluded.version, is_active = excluded.is_active, is_deleted = excluded.is_deleted`)
}

/** About the bytes of definitions that the versions of deleted rules may take in one workspace. */
const maxDeletedBytes = 67_108_864

/** Keeps the versions of rules that are about to be deleted, for the events that considered them. The oldest go beyond a limit. */
export async function keepVersions(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  ruleIds: string[],
): Promise<void> {
  await transaction.$executeRaw(Prisma.sql`
    INSERT INTO deleted_rule_versions
      (workspace_id, rule_id, version, name, trigger, conditions, actions, created_at, bytes)
    SELECT workspace_id, rule_id, version, name, trigger, conditions, actions, created_at,
           greatest(bytes, octet_length(conditions::text) + octet_length(actions::text))
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

/** What each rule is at this moment, where its last row says something else. One statement sees rules and workspaces at one moment. */
const noteMissedStatesSql = `
  INSERT INTO rule_states (workspace_id, rule_id, rules_version, version, is_active)
  SELECT rules.workspace_id, rules.id, workspaces.rules_version, rules.version, rules.is_active
  FROM rules
  JOIN workspaces ON workspaces.id = rules.workspace_id
  LEFT JOIN LATERAL (
    SELECT version, is_active FROM rule_states
    WHERE rule_states.workspace_id = rules.workspace_id AND rule_states.rule_id = rules.id
    ORDER BY rules_version DESC LIMIT 1
  ) AS known ON true
  WHERE (known.version, known.is_active) IS DISTINCT FROM (rules.version, rules.is_active)
  ON CONFLICT DO NOTHING`

/** Notes rules that an API of the version before has changed: it notes nothing. */
export async function noteMissedStates(database: Database): Promise<void> {
  await database.run('note_missed_states', noteMissedStatesSql, [])
}
