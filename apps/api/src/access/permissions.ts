import type { Scope } from '@automation/access'
import type { Role } from '@automation/database'

/** Each role may do what the ones before it may: viewer reads and dry-runs, operator runs and toggles, editor changes rules, admin all. */
const rank: Record<Role, number> = { viewer: 0, operator: 1, editor: 2, admin: 3 }

/** A key may do what members of a role may. */
const roleOfScope: Partial<Record<Scope, Role>> = {
  'rules:read': 'viewer',
  'rules:run': 'operator',
  'rules:write': 'editor',
  admin: 'admin',
}

/** What a caller may do in the workspace it has named. */
export interface Permissions {
  /** undefined for a key that may do nothing with rules. */
  role: Role | undefined
  /** undefined for a member, whom the role alone describes. */
  scopes: Scope[] | undefined
}

export function permissionsOfScopes(scopes: Scope[]): Permissions {
  const roles = scopes.flatMap((scope) => roleOfScope[scope] ?? [])
  return { scopes, role: roles.sort((left, right) => rank[right] - rank[left])[0] }
}

/** @param scope what a key needs instead of a role, where the route is about something else than rules */
export function permits({ role, scopes }: Permissions, needed: Role, scope?: Scope): boolean {
  if (scope !== undefined && scopes !== undefined && role !== 'admin') return scopes.includes(scope)
  return role !== undefined && rank[role] >= rank[needed]
}
