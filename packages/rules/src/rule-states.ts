import { lowestId, Prisma, type WorkspaceTransaction } from '@automation/database'
import type { Removal, Transaction } from '@automation/ledger'

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

/** Notes what was missed in one workspace, before a change of its rules. It needs the lock of the workspace, and nearly always there is nothing. */
export async function catchUp(transaction: WorkspaceTransaction, workspaceId: string): Promise<void> {
  const behind = await transaction.$queryRaw<unknown[]>(Prisma.sql`
    SELECT 1 FROM workspaces WHERE id = ${workspaceId}::uuid AND noted_version IS DISTINCT FROM rules_version`)
  if (behind.length > 0) await noteMissedStates(transaction, [workspaceId])
}

/**
 * Notes what the rules of workspaces are at the present `rulesVersion`, where processes of the version before have changed them, which note
 * nothing. It needs the locks of the workspaces.
 *
 *   noted_version   rules_version
 *         5 ············ 8             6 and 7 become a gap · 8 is noted · noted_version is 8
 *
 * A row is written for each rule that may have changed since its last one, even if it was only switched off and on. So a rule without a row
 * directly after a gap was the same all the time.
 *
 * @returns how many workspaces it has noted
 */
async function noteMissedStates(
  transaction: Pick<Transaction, '$executeRaw'>,
  workspaceIds: string[],
): Promise<number> {
  return transaction.$executeRaw(Prisma.sql`
    WITH missed_workspaces AS (
      SELECT id, rules_version, coalesce(noted_version + 1, 0) AS first_version FROM workspaces
      WHERE id = ANY (${workspaceIds}::uuid[]) AND noted_version IS DISTINCT FROM rules_version
    ),
    present_rules AS (
      SELECT rules.workspace_id, rules.id AS rule_id, rules.version, rules.is_active, rules.updated_at
      FROM missed_workspaces JOIN rules ON rules.workspace_id = missed_workspaces.id
    ),
    known_states AS (
      SELECT DISTINCT ON (states.workspace_id, states.rule_id) states.*
      FROM missed_workspaces JOIN rule_states AS states ON states.workspace_id = missed_workspaces.id
      ORDER BY states.workspace_id, states.rule_id, states.rules_version DESC
    ),
    inserted_states AS (
      INSERT INTO rule_states (workspace_id, rule_id, rules_version, version, is_active, is_deleted, at)
      SELECT workspace_id, rule_id, missed_workspaces.rules_version, coalesce(rules.version, known.version),
             coalesce(rules.is_active, false), rules.version IS NULL, coalesce(rules.updated_at, now())
      FROM present_rules AS rules
      FULL JOIN known_states AS known USING (workspace_id, rule_id)
      JOIN missed_workspaces ON missed_workspaces.id = workspace_id
      WHERE CASE WHEN rules.version IS NULL THEN NOT known.is_deleted
                 ELSE (known.version, known.is_active, known.at)
                      IS DISTINCT FROM (rules.version, rules.is_active, rules.updated_at) END
      ON CONFLICT (workspace_id, rule_id, rules_version)
      DO UPDATE SET version = excluded.version, is_active = excluded.is_active, is_deleted = excluded.is_deleted, at = excluded.at
    ),
    inserted_gaps AS (
      INSERT INTO rule_state_gaps (workspace_id, first_version, last_version)
      SELECT id, first_version, rules_version - 1 FROM missed_workspaces WHERE first_version < rules_version
    )
    UPDATE workspaces SET noted_version = missed_workspaces.rules_version
    FROM missed_workspaces WHERE workspaces.id = missed_workspaces.id`)
}

/** A workspace may have a thousand rules. */
const workspacesAtOnce = 20

/**
 * Creates a walk over all workspaces that notes what was missed (noteMissedStates), some workspaces in each call. A workspace that is being
 * changed is left out: this version notes it then, and a later round the change of an older version.
 */
export function createMissedNoting(): Removal {
  let after = lowestId
  return async (transaction) => {
    const rows = await transaction.$queryRaw<{ id: string }[]>(Prisma.sql`
      SELECT id FROM workspaces
      WHERE id > ${after}::uuid AND noted_version IS DISTINCT FROM rules_version
      ORDER BY id LIMIT ${workspacesAtOnce} FOR NO KEY UPDATE SKIP LOCKED`)
    const ids = rows.map(({ id }) => id)
    after = ids.at(-1) ?? after
    const removed = ids.length === 0 ? 0 : await noteMissedStates(transaction, ids)
    return { removed, isOver: ids.length < workspacesAtOnce }
  }
}
