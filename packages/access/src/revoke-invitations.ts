import type { WorkspaceTransaction } from '@automation/database'

/** Who may invite no longer leaves no open invitation, also for the time when they may again. @param actor as the audit log names them */
export async function revokeInvitationsOf(
  { invitation }: Pick<WorkspaceTransaction, 'invitation'>,
  actor: string,
): Promise<void> {
  await invitation.updateMany({
    where: { createdBy: actor, acceptedAt: null, revokedAt: null },
    data: { revokedAt: new Date() },
  })
}
