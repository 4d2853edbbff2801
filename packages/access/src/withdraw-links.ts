import { postgresNow, type WorkspaceTransaction } from '@automation/database'

/** Who may make links no longer leaves no open invitation and no live embed session, also for the time when they may again. @param actor as the audit log names them */
export async function withdrawLinksOf(
  { invitation, embedSession }: Pick<WorkspaceTransaction, 'invitation' | 'embedSession'>,
  actor: string,
): Promise<void> {
  const now = new Date(postgresNow())
  await invitation.updateMany({
    where: { createdBy: actor, acceptedAt: null, revokedAt: null },
    data: { revokedAt: now },
  })
  await embedSession.updateMany({
    where: { createdBy: actor, endedAt: null, expiresAt: { gt: now } },
    data: { endedAt: now },
  })
}
