import type { Plan, Role } from './generated/enums.js'
import type { Database } from './open.js'

/** What a workspace's limits depend on. */
export interface Tenant {
  plan: Plan
  /** Whose limits apply besides its own: `user:<sub>` or `workspace:<id>`; null where the command line created it. */
  createdBy: string | null
}

export interface Membership extends Tenant {
  role: Role
}

/** Finds a user's role in a workspace; undefined where the user is no member, or the workspace does not exist. */
export async function findMembership(
  database: Database,
  workspaceId: string,
  userId: string,
): Promise<Membership | undefined> {
  const member = await database.system.member.findUnique({
    where: { workspaceId_userId: { workspaceId, userId } },
    select: { role: true, workspace: { select: { plan: true, createdBy: true } } },
  })
  return member === null ? undefined : { role: member.role, ...member.workspace }
}
