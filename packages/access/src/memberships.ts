import type { Database, Plan, Role } from '@automation/database'
import { isSuspendedSql } from '@automation/ledger'

/** What a workspace's limits depend on. */
export interface Tenant {
  plan: Plan
  /** Whose limits apply besides its own: `user:<sub>` or `workspace:<id>`; null where the command line created it. */
  createdBy: string | null
  /** Only its admins read it, and undo that. */
  isSuspended: boolean
  /** It moves to another installation: who comes now comes again later. */
  isClosed: boolean
}

export interface Membership extends Tenant {
  role: Role
  /** It ends by itself, and reads no credentials. */
  isSupport: boolean
}

/** Of a row that is joined as `workspaces`. */
export const tenantColumnsSql = `workspaces.plan::text AS plan, workspaces.created_by AS "createdBy", ${isSuspendedSql} AS "isSuspended", workspaces.closed_at IS NOT NULL AS "isClosed"`

/** $1 workspace, $2 user */
const findMembershipSql = `
  SELECT m.role::text AS role, m.ends_at IS NOT NULL AS "isSupport", ${tenantColumnsSql}
  FROM members m
  JOIN workspaces ON workspaces.id = m.workspace_id
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
  SELECT ${tenantColumnsSql} FROM workspaces WHERE id = $1::uuid AND deleted_at IS NULL`

/** Finds what the limits of a workspace depend on; undefined where it does not exist. */
export async function findTenant(database: Database, workspaceId: string): Promise<Tenant | undefined> {
  const [tenant] = await database.run<Tenant>('find_tenant', findTenantSql, [workspaceId])
  return tenant
}
