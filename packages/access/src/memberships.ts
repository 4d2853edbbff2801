import type { Database, Plan, Role } from '@automation/database'

/** What a workspace's limits depend on. */
export interface Tenant {
  plan: Plan
  /** Whose limits apply besides its own: `user:<sub>` or `workspace:<id>`; null where the command line created it. */
  createdBy: string | null
}

export interface Membership extends Tenant {
  role: Role
  /** It ends by itself, and reads no credentials. */
  isSupport: boolean
}

/** $1 workspace, $2 user */
const findMembershipSql = `
  SELECT m.role::text AS role, m.ends_at IS NOT NULL AS "isSupport", w.plan::text AS plan, w.created_by AS "createdBy"
  FROM members m
  JOIN workspaces w ON w.id = m.workspace_id
  WHERE m.workspace_id = $1::uuid AND m.user_id = $2 AND (m.ends_at IS NULL OR m.ends_at > now())`

/**
 * Finds a user's role in a workspace; undefined where the user is no member, or the workspace does not exist. Each has a statement of its own: one
 * on a connection that went mute stops nobody else.
 */
export async function findMembership(
  database: Database,
  workspaceId: string,
  userId: string,
): Promise<Membership | undefined> {
  const rows = await database.run<Membership>('find_membership', findMembershipSql, [workspaceId, userId])
  return rows[0]
}

/** $1 workspace */
const findTenantSql = `
  SELECT plan::text AS plan, created_by AS "createdBy" FROM workspaces WHERE id = $1::uuid`

/** Finds what the limits of a workspace depend on; undefined where it does not exist. */
export async function findTenant(database: Database, workspaceId: string): Promise<Tenant | undefined> {
  const [tenant] = await database.run<Tenant>('find_tenant', findTenantSql, [workspaceId])
  return tenant
}
