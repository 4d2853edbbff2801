import type { EmbedAllow, EmbedPage, EmbedRole, EmbedUser } from './embed-session-schemas.js'

/** What lists and callers read of the row `s` of a session, without its hashes. */
export const sessionColumnsSql = `
  s.id, s.user_id AS "userId", s.user_name AS "userName", s.role::text AS role, s.pages, s.rule_id AS "ruleId", s.allow, s.publish,
  s.expires_at AS "expiresAt"`

export interface SessionRow {
  id: string
  userId: string
  userName: string | null
  role: EmbedRole
  pages: EmbedPage[]
  ruleId: string | null
  allow: EmbedAllow | null
  publish: boolean
  expiresAt: Date
}

export function userOf({ userId: id, userName }: Pick<SessionRow, 'userId' | 'userName'>): EmbedUser {
  return { id, ...(userName !== null && { name: userName }) }
}
