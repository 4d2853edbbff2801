import type { Plan, Role } from './generated/enums.js'
import type { Database } from './open.js'

export interface Membership {
  role: Role
  plan: Plan
}

/** Finds a user's role in a workspace and its plan; undefined where the user is no member, or the workspace does not exist. */
export async function findMembership(
  database: Database,
  workspaceId: string,
  userId: string,
): Promise<Membership | undefined> {
  const member = await database.system.member.findUnique({
    where: { workspaceId_userId: { workspaceId, userId } },
    select: { role: true, workspace: { select: { plan: true } } },
  })
  return member === null ? undefined : { role: member.role, plan: member.workspace.plan }
}
