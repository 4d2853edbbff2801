import type { Role } from '@automation/database'

/** Each role may do what the ones before it may: viewer reads and dry-runs, operator runs and toggles, editor changes rules, admin all. */
const rank: Record<Role, number> = { viewer: 0, operator: 1, editor: 2, admin: 3 }

export function mayActAs(role: Role, needed: Role): boolean {
  return rank[role] >= rank[needed]
}
