import type { Role } from '@automation/client'

/** What each role may do. */
export const roleWords: Record<Role, string> = {
  viewer: 'viewer: reads, and makes dry runs',
  operator: 'operator: also posts events, executes, retries, switches rules on and off',
  editor: 'editor: also changes rules',
  admin: 'admin: everything',
}
