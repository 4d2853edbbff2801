import { randomBytes } from 'node:crypto'
import {
  isUuid,
  newId,
  Prisma,
  postgresNow,
  type WorkspaceReads,
  type WorkspaceTransaction,
  writeJson,
} from '@automation/database'
import { findDurationFault, parseDuration } from '@automation/engine'
import { type Administrator, changeWorkspace } from '../change-workspace.js'
import { Refused } from '../refused.js'
import type { EmbedSession, EmbedSessionToCreate } from './embed-session-schemas.js'
import { hashSecret } from './secrets.js'
import { type SessionRow, sessionColumnsSql, userOf } from './session-row.js'

/** Of one workspace. */
const maxLive = 10_000
const usualMs = 60 * 60 * 1_000
const shortestMs = 60 * 1_000
const longestMs = 12 * usualMs

/**
 * Creates a session, whose link opens it once (open-session.ts). Its times are Postgres' clock.
 *
 * @returns with the secret of its link
 * @throws Refused where `expiresIn` is no duration of 1m to 12h, the workspace has no such rule, or 10,000 live sessions
 */
export function createEmbedSession(
  administrator: Administrator,
  wished: EmbedSessionToCreate,
): Promise<{ id: string; secret: string; expiresAt: string }> {
  const { workspaceId, actor } = administrator
  const { user, role, pages, publish = false } = wished
  const lifetimeMs = readLifetime(wished.expiresIn)
  const id = newId()
  const secret = randomBytes(32).toString('base64url')
  const rule = wished.rule?.toLowerCase() ?? null
  return changeWorkspace(administrator, async (transaction) => {
    const isThere =
      rule === null || (isUuid(rule) && (await transaction.rule.count({ where: { id: rule } })) > 0)
    if (!isThere) throw new Refused('validation_failed', 'The workspace has no such rule', 'rule')
    await refuseExcess(transaction, workspaceId)
    const [row] = await transaction.$queryRaw<{ at: Date }[]>(Prisma.sql`
      INSERT INTO embed_sessions (
        id, workspace_id, user_id, user_name, role, pages, rule_id, allow, publish, locale, appearance, created_by,
        api_key_id, link_hash, created_at, expires_at)
      VALUES (
        ${id}::uuid, ${workspaceId}::uuid, ${user.id}, ${user.name ?? null}, ${role}::role, ${pages}, ${rule}::uuid,
        ${toJson(wished.allow)}::jsonb, ${publish}, ${wished.locale ?? null}, ${toJson(wished.appearance)}::jsonb, ${actor},
        ${keyOf(actor)}::uuid, ${hashSecret(secret)}, statement_timestamp(),
        statement_timestamp() + ${lifetimeMs} * interval '1 millisecond')
      RETURNING expires_at AS at`)
    const expiresAt = (row as { at: Date }).at.toISOString()
    const { allow } = wished
    const details = { ...namesOf(user), role, pages, rule, ...(allow && { allow }), publish, expiresAt }
    return {
      result: { id, secret, expiresAt },
      entry: { action: 'embed_session.created', subject: id, details },
    }
  })
}

/** A page of those that are live, the newest first. @param before the id after which it begins */
export async function listEmbedSessions(
  reads: WorkspaceReads,
  workspaceId: string,
  { before, userId, take }: { before: string | undefined; userId: string | undefined; take: number },
): Promise<EmbedSession[]> {
  const rows = await reads.$queryRows<Row>(Prisma.sql`
    SELECT ${Prisma.raw(sessionColumnsSql)}, s.created_by AS "createdBy", s.created_at AS "createdAt", s.opened_at AS "openedAt"
    FROM embed_sessions s
    WHERE workspace_id = ${workspaceId}::uuid AND ended_at IS NULL AND expires_at > now()
      ${before === undefined ? Prisma.empty : Prisma.sql`AND id < ${before}::uuid`}
      ${userId === undefined ? Prisma.empty : Prisma.sql`AND user_id = ${userId}`}
    ORDER BY id DESC LIMIT ${take}`)
  return rows.map(presentSession)
}

/** Ends one from the next request on; to end it again changes nothing. @throws Refused where there is none */
export function endEmbedSession(administrator: Administrator, id: string): Promise<void> {
  return changeWorkspace(administrator, async ({ embedSession }) => {
    const found = isUuid(id) ? await embedSession.findUnique({ where: { id } }) : null
    if (found === null) throw noSuchSession()
    if (found.endedAt !== null) return { result: undefined, entry: undefined }
    await embedSession.update({ where: { id }, data: { endedAt: new Date(postgresNow()) } })
    const details = namesOf(userOf(found))
    return { result: undefined, entry: { action: 'embed_session.ended', subject: id, details } }
  })
}

/** Ends all live ones of a user. @returns how many */
export function endEmbedSessionsOfUser(administrator: Administrator, userId: string): Promise<number> {
  return changeWorkspace(administrator, async ({ embedSession }) => {
    const live = { userId, endedAt: null, expiresAt: { gt: new Date(postgresNow()) } }
    const { count } = await embedSession.updateMany({
      where: live,
      data: { endedAt: new Date(postgresNow()) },
    })
    const entry = {
      action: 'embed_session.ended' as const,
      subject: administrator.workspaceId,
      details: { userId, sessions: count },
    }
    return { result: count, entry: count === 0 ? undefined : entry }
  })
}

/** The same for everything that is wrong with a link: it says nothing of the session. */
export function noSuchSession(): Refused {
  return new Refused(
    'embed_session_not_found',
    'The embed session is unknown or over, or its link was used or is too old: ask for a new one',
  )
}

function readLifetime(text: string | undefined): number {
  if (text === undefined) return usualMs
  const ms = findDurationFault(text) === undefined ? parseDuration(text) : undefined
  if (ms === undefined || ms < shortestMs || ms > longestMs)
    throw new Refused('validation_failed', 'Must be a duration from 1m to 12h', 'expiresIn')
  return ms
}

/** Ended and expired ones stay for a while, and count no more. */
async function refuseExcess(transaction: WorkspaceTransaction, workspaceId: string): Promise<void> {
  const [{ count } = { count: 0 }] = await transaction.$queryRaw<{ count: number }[]>(Prisma.sql`
    SELECT count(*)::int FROM (
      SELECT FROM embed_sessions
      WHERE workspace_id = ${workspaceId}::uuid AND expires_at > now() AND ended_at IS NULL
      LIMIT ${maxLive}) AS live`)
  if (count >= maxLive)
    throw new Refused('limit_reached', `A workspace may have ${maxLive} embed sessions at a time`)
}

interface Row extends SessionRow {
  createdBy: string
  createdAt: Date
  openedAt: Date | null
}

function presentSession(row: Row): EmbedSession {
  const { id, role, pages, ruleId: rule, allow, publish, createdBy } = row
  return {
    ...{ id, user: userOf(row), role, pages, rule, allow, publish, createdBy },
    createdAt: row.createdAt.toISOString(),
    openedAt: row.openedAt?.toISOString() ?? null,
    expiresAt: row.expiresAt.toISOString(),
  }
}

/** In the audit log. */
function namesOf({ id, name }: EmbedSession['user']) {
  return { userId: id, ...(name !== undefined && { userName: name }) }
}

/** The key that made it, whose end is the end of the session. */
function keyOf(actor: string): string | null {
  return actor.startsWith('api_key:') ? actor.slice('api_key:'.length) : null
}

function toJson(value: object | undefined): string | null {
  return value === undefined ? null : writeJson(value)
}
