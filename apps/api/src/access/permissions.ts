import type { Scope } from '@automation/access'
import type { Role } from '@automation/database'

/**
 * Each role includes the permissions of those before it: a viewer reads and dry-runs, an operator runs and toggles, an editor changes
 * rules, an admin may do everything.
 */
const rank: Record<Role, number> = { viewer: 0, operator: 1, editor: 2, admin: 3 }

/** The role whose permissions a scope gives to a key. */
const roleOfScope: Partial<Record<Scope, Role>> = {
  'rules:read': 'viewer',
  'rules:run': 'operator',
  'rules:write': 'editor',
  admin: 'admin',
}

/** The permissions of a caller in the workspace that it named. */
export interface Permissions {
  /** undefined for a key without permissions on rules. */
  role: Role | undefined
  /** undefined for a member, whose permissions follow from the role. */
  scopes: Scope[] | undefined
  /** Of a member whose access ends by itself. */
  isSupport?: boolean
}

export function permissionsOfScopes(scopes: Scope[]): Permissions {
  const roles = scopes.flatMap((scope) => roleOfScope[scope] ?? [])
  return { scopes, role: roles.sort((left, right) => rank[right] - rank[left])[0] }
}

/** The scope that a key needs for what a role may do. */
export function scopeOf(role: Role): Scope {
  const [scope] = Object.entries(roleOfScope).find(([, given]) => given === role) ?? []
  return scope as Scope
}

/** @param scope the scope that a key needs instead of the role, where the route is not about rules */
export function permits({ role, scopes }: Permissions, needed: Role, scope?: Scope): boolean {
  if (scope !== undefined && scopes !== undefined && role !== 'admin') return scopes.includes(scope)
  return role !== undefined && rank[role] >= rank[needed]
}
