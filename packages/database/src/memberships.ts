import { createBatcher } from './batcher.js'
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

interface Asked {
  workspaceId: string
  userId: string
}

/** $1 workspace ids, $2 their users */
const findMembershipsSql = `
  SELECT asked.number::int AS number, m.role::text AS role, w.plan::text AS plan, w.created_by AS "createdBy"
  FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS asked (workspace_id, user_id, number)
  JOIN members m ON m.workspace_id = asked.workspace_id AND m.user_id = asked.user_id
  JOIN workspaces w ON w.id = m.workspace_id`

/**
 * Creates a function that finds a user's role in a workspace; undefined where the user is no member, or the workspace does not exist. Requests of
 * the same moment share a statement: of a caller that posts an event every few seconds, each one asks.
 */
export function createMembershipFinder(
  database: Database,
): (workspaceId: string, userId: string) => Promise<Membership | undefined> {
  const find = createBatcher(async (asked: Asked[]) => {
    const rows = await database.run<Membership & { number: number }>('find_memberships', findMembershipsSql, [
      asked.map(({ workspaceId }) => workspaceId),
      asked.map(({ userId }) => userId),
    ])
    const found = new Map(rows.map(({ number, ...membership }) => [number, membership]))
    return asked.map((_, index) => found.get(index + 1))
  })
  return (workspaceId, userId) => find({ workspaceId, userId })
}
