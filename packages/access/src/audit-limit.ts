import { firstIdOf, Prisma, postgresNow, type WorkspaceTransaction } from '@automation/database'
import type { AuditAction, NewAuditEntry } from './audit.js'
import { Refused } from './refused.js'

const dayMs = 24 * 60 * 60 * 1_000
/** Of one workspace in 24 hours. */
export const maxEntriesPerDay = 20_000
/**
 * What takes something away is always allowed, as an update that only switches something off is: an admin must be able to stop a rule, or the user
 * behind all these changes. Each of these but the last needs a change before it that counts, so a loop of them ends.
 */
const alwaysAllowed: ReadonlySet<AuditAction> = new Set<AuditAction>([
  'workspace.suspended',
  'workspace.deletion_asked',
  'member.removed',
  'invitation.revoked',
  'embed_session.ended',
  'api_key.revoked',
  'signing_secret.revoked',
  'credential.deleted',
  'rule.deactivated',
  'rule.paused',
  'rule.rolled_back',
  'rule.deleted',
  'draft.deleted',
  'guard.ended',
  'email_template.deleted',
  'subscription.deleted',
  // Only an operator of the service can do this, and a workspace must not be able to prevent it.
  'token.minted',
])

/**
 * Refuses changes that the audit log has no room for, so that a loop of changes does not fill the disk. Older entries are never
 * removed to make room: a flood would erase what came before it.
 *
 * @param entries that are about to be written
 * @throws Refused where the workspace would have more than 20,000 entries of the last 24 hours
 */
export async function refuseExcessEntries(
  transaction: WorkspaceTransaction,
  workspaceId: string,
  entries: NewAuditEntry[],
): Promise<void> {
  if (entries.every(({ action, isSwitchOff }) => isSwitchOff || alwaysAllowed.has(action))) return
  const [{ count } = { count: 0 }] = await transaction.$queryRaw<{ count: number }[]>(Prisma.sql`
    SELECT count(*)::int FROM (
      SELECT FROM audit_entries
      WHERE workspace_id = ${workspaceId}::uuid
        AND (workspace_id, id) >= (${workspaceId}::uuid, ${firstIdOf(postgresNow() - dayMs)}::uuid)
      LIMIT ${maxEntriesPerDay}) AS recent_entries`)
  // A product that opens a session for each page must not keep its own people from changing a rule.
  const isForUsers = entries.every(({ action }) => action === 'embed_session.created')
  if (count + entries.length > (isForUsers ? maxEntriesPerDay / 2 : maxEntriesPerDay))
    throw new Refused(
      'limit_reached',
      `A workspace may have ${maxEntriesPerDay} changes in 24 hours. Rules can still be switched off, and members, keys and secrets removed`,
    )
}
