import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Database } from '@automation/database'
import { isSuspendedSql } from '@automation/ledger'
import { type Tenant, tenantColumnsSql } from '../memberships.js'
import type { EmbedAppearance, EmbedGrant, OpenedEmbedSession } from './embed-session-schemas.js'
import { noSuchSession } from './embed-sessions.js'
import { hashSecret } from './secrets.js'
import { type SessionRow, sessionColumnsSql, userOf } from './session-row.js'

/** A session that is live. */
export interface LiveSession extends Tenant {
  workspaceId: string
  /** The trigger of its rule now; null where it has no rule, or the rule is gone. */
  trigger: string | null
  grant: EmbedGrant
}

interface Row extends SessionRow, Tenant {
  workspaceId: string
  locale: string | null
  appearance: EmbedAppearance | null
  trigger: string | null
  hash: Uint8Array
}

/**
 * A session is live until its time is over or somebody ends it, and as long as its maker may make one: a key until it is revoked or
 * has expired, a person while they are an admin of the workspace.
 */
const liveSql = (columns: string) => `
  SELECT ${columns}
  FROM embed_sessions s
  JOIN workspaces ON workspaces.id = s.workspace_id
  LEFT JOIN api_keys k ON k.id = s.api_key_id AND k.workspace_id = s.workspace_id
  LEFT JOIN members m ON m.workspace_id = s.workspace_id AND s.api_key_id IS NULL AND m.user_id = substr(s.created_by, 6)
  LEFT JOIN rules r ON r.id = s.rule_id AND r.workspace_id = s.workspace_id
  WHERE s.ended_at IS NULL AND s.expires_at > now()
    AND CASE WHEN s.api_key_id IS NULL THEN m.role = 'admin'
             ELSE k.revoked_at IS NULL AND k.id IS NOT NULL AND (k.expires_at IS NULL OR k.expires_at > now()) END`

const columns = `${sessionColumnsSql}, s.workspace_id AS "workspaceId", s.locale, s.appearance, r.trigger, ${tenantColumnsSql}`

/** $1 ids */
const loadSql = `${liveSql(`s.token_hash AS hash, ${columns}`)}
    AND s.id = ANY($1::uuid[]) AND s.token_hash IS NOT NULL`

/** Loads those of these sessions that are open and live, each with the hash of its token. */
export async function loadEmbedSessions(
  database: Database,
  ids: string[],
): Promise<{ session: LiveSession; hash: Uint8Array }[]> {
  const rows = await database.run<Row>('load_embed_sessions', loadSql, [ids])
  return rows.map((row) => ({ session: presentLive(row), hash: row.hash }))
}

/** $1 ids */
const loadFramesSql = `${liveSql(`
    s.link_hash AS hash, workspaces.embed_origins AS origins,
    s.opened_at IS NULL AND s.created_at > now() - interval '5 minutes' AND NOT ${isSuspendedSql} AS "mayOpen", ${columns}`)}
    AND s.id = ANY($1::uuid[])`

/** A live session as it is found without its token: by its id alone. */
export interface SessionFrame extends LiveSession {
  /** Those that its workspace lets frame it. */
  origins: string[]
  /** undefined once its link is worth nothing. */
  linkHash: Uint8Array | undefined
}

/** Loads those of these sessions that are live, opened or not. */
export async function loadSessionFrames(database: Database, ids: string[]): Promise<SessionFrame[]> {
  const rows = await database.run<Row & { origins: string[]; mayOpen: boolean }>(
    'load_session_frames',
    loadFramesSql,
    [ids],
  )
  return rows.map((row) => {
    const { origins, mayOpen, hash } = row
    return { ...presentLive(row), origins, linkHash: mayOpen ? hash : undefined }
  })
}

/** Whether this is the secret of the link of a session, and the link is worth something. */
export function opensSession({ linkHash }: SessionFrame, secret: string): boolean {
  return linkHash !== undefined && timingSafeEqual(linkHash, hashSecret(secret))
}

/** Of several requests with the same link, one changes the row. $1 id, $2 hash of the token, $3 hash of the secret */
const openSql = `
  UPDATE embed_sessions SET opened_at = now(), token_hash = $2
  WHERE id = $1::uuid AND link_hash = $3 AND opened_at IS NULL AND ended_at IS NULL
  RETURNING id`

/** Exchanges the secret of a link for a token, once. @throws Refused where another request has used it */
export async function openEmbedSession(
  database: Database,
  { workspaceId, grant, origins }: SessionFrame,
  secret: string,
): Promise<OpenedEmbedSession> {
  const token = `emb_${grant.id}_${randomBytes(32).toString('base64url')}`
  const opened = await database.run('open_embed_session', openSql, [
    grant.id,
    hashSecret(token),
    hashSecret(secret),
  ])
  if (opened.length === 0) throw noSuchSession()
  return { token, workspaceId, ...grant, origins }
}

function presentLive(row: Row): LiveSession {
  const { workspaceId, trigger, plan, createdBy, isSuspended, isClosed } = row
  const { id, role, pages, ruleId, allow, publish, locale, appearance } = row
  const grant = {
    ...{ id, user: userOf(row), role, pages, publish, expiresAt: row.expiresAt.toISOString() },
    ...(ruleId !== null && { rule: ruleId }),
    ...(allow !== null && { allow }),
    ...(locale !== null && { locale }),
    ...(appearance !== null && { appearance }),
  }
  return { workspaceId, trigger, plan, createdBy, isSuspended, isClosed, grant }
}
