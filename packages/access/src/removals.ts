import { type Database, firstIdOf, postgresNow, writeJson } from '@automation/database'
import { Type } from 'typebox'
import type { AuditAction } from './audit.js'
import { DateTime, orNull } from './credential.js'
import { ErasureToApply, listAllErasures } from './erasures.js'

/** What takes a right or a rule away, so that a restore to before it gives that back. */
const removingActions: readonly AuditAction[] = [
  'workspace.suspended',
  'member.removed',
  'member.changed',
  'invitation.revoked',
  'embed_session.ended',
  'api_key.revoked',
  'signing_secret.revoked',
  'credential.deleted',
  'subscription.deleted',
  'rule.deactivated',
  'rule.paused',
  'rule.deleted',
]

/** An entry of an audit log that took something away. */
export const RemovalEntry = Type.Object({
  id: Type.String({ format: 'uuid' }),
  workspaceId: Type.String({ format: 'uuid' }),
  actor: Type.String(),
  action: Type.String(),
  subject: Type.String(),
  /** The role that a member was given. */
  role: orNull(Type.String()),
  at: DateTime,
})
export type RemovalEntry = Type.Static<typeof RemovalEntry>

/** A workspace that was deleted, or whose deletion was asked for. */
const Deletion = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  deletesAt: DateTime,
})

/** What a restore to before it would undo. It is kept outside the database. */
export const Removals = Type.Object({
  automationRemovals: Type.Literal(1),
  takenAt: DateTime,
  /** Entries are those since then; erasures and deletions are all. */
  since: DateTime,
  erasures: Type.Array(ErasureToApply),
  deletions: Type.Array(Deletion),
  entries: Type.Array(RemovalEntry),
})
export type Removals = Type.Static<typeof Removals>

/** Whether what the entry took away is there, in `entry` with its `subject` and, if that is an id, `subject_id`. */
const isBackSql = `
  CASE entry.action
    WHEN 'workspace.suspended' THEN EXISTS (SELECT FROM workspaces WHERE id = entry.workspace_id AND suspended_at IS NULL)
    WHEN 'member.removed' THEN EXISTS (
      SELECT FROM members WHERE workspace_id = entry.workspace_id AND user_id = entry.subject AND coalesce(ends_at > now(), true))
    WHEN 'member.changed' THEN EXISTS (
      SELECT FROM members WHERE workspace_id = entry.workspace_id AND user_id = entry.subject AND role::text <> entry.role)
    WHEN 'invitation.revoked' THEN EXISTS (
      SELECT FROM invitations WHERE id = subject_id AND revoked_at IS NULL AND accepted_at IS NULL AND expires_at > now())
    WHEN 'embed_session.ended' THEN EXISTS (
      SELECT FROM embed_sessions WHERE id = subject_id AND ended_at IS NULL AND expires_at > now())
    WHEN 'api_key.revoked' THEN EXISTS (
      SELECT FROM api_keys WHERE id = subject_id AND revoked_at IS NULL AND coalesce(expires_at > now(), true))
    WHEN 'signing_secret.revoked' THEN EXISTS (
      SELECT FROM signing_secrets WHERE id = subject_id AND revoked_at IS NULL AND coalesce(retires_at > now(), true))
    WHEN 'credential.deleted' THEN EXISTS (
      SELECT FROM credentials WHERE workspace_id = entry.workspace_id AND name = entry.subject)
    WHEN 'subscription.deleted' THEN EXISTS (SELECT FROM subscriptions WHERE id = subject_id)
    WHEN 'rule.deleted' THEN EXISTS (SELECT FROM rules WHERE id = subject_id)
    ELSE EXISTS (SELECT FROM rules WHERE id = subject_id AND is_active)
  END`
const subjectIdSql = `
  LATERAL (SELECT CASE WHEN entry.subject ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN entry.subject::uuid END AS subject_id) AS subjects`

/** $1 the last id · $2 actions · $3 how many. By the primary key: all workspaces, in the order of time. */
const listRemovalsSql = `
  SELECT entry.id, entry.workspace_id AS "workspaceId", actor, entry.action, entry.subject, entry.role, at,
         ${isBackSql} AS "isBack"
  FROM (
    SELECT id, workspace_id, actor, action, subject, details ->> 'role' AS role, at FROM audit_entries
    WHERE id > $1::uuid AND action = ANY ($2::text[]) ORDER BY id LIMIT $3::int
  ) AS entry, ${subjectIdSql}
  ORDER BY entry.id`

/**
 * $1 entries. If the database knows such a removal from then, or a later one, what is there now was given back after it: what was there before the restore, and
 * what the list has taken away again and somebody has given back.
 */
const findUndoneSql = `
  SELECT entry.id
  FROM json_to_recordset($1::json) AS entry (id uuid, workspace_id uuid, action text, subject text, role text, at timestamptz), ${subjectIdSql}
  WHERE EXISTS (SELECT FROM workspaces WHERE id = entry.workspace_id AND deleted_at IS NULL)
    AND NOT EXISTS (
      SELECT FROM audit_entries AS known
      WHERE known.workspace_id = entry.workspace_id AND known.subject = entry.subject AND known.action = entry.action AND known.at >= entry.at)
    AND ${isBackSql}`

/** $1 workspaces · $2 since when */
const findKeptSinceSql = `
  SELECT workspace_id AS id FROM audit_entries
  WHERE workspace_id = ANY ($1::uuid[]) AND action = 'workspace.deletion_undone' AND at >= $2::timestamptz`

const together = 1_000
/** An id may carry the time of a clock that goes wrong by so much. */
const skewMs = 60 * 60 * 1_000

/**
 * Lists what a restore would undo: all erasures and deletions, and what was taken away since a time and was not given back.
 *
 * @param since epoch ms
 */
export async function listRemovals(database: Database, since: number): Promise<Removals> {
  const takenAt = new Date(postgresNow()).toISOString()
  const entries = new Map<string, RemovalEntry>()
  for (let after = firstIdOf(since - skewMs); ; ) {
    const page = await database.run<Omit<RemovalEntry, 'at'> & { at: Date; isBack: boolean }>(
      'list_removals',
      listRemovalsSql,
      [after, removingActions, together],
    )
    for (const { isBack, at, ...entry } of page)
      if (!isBack)
        entries.set(`${entry.workspaceId} ${entry.action} ${entry.subject}`, {
          ...entry,
          at: at.toISOString(),
        })
    const last = page.at(-1)
    if (last === undefined || page.length < together) break
    after = last.id
  }
  const erasures = await listAllErasures(database)
  return {
    ...{ automationRemovals: 1, takenAt, since: new Date(since).toISOString() },
    ...{ erasures, deletions: await listDeletions(database), entries: [...entries.values()] },
  }
}

async function listDeletions({ system }: Database): Promise<Removals['deletions']> {
  const deleted = await system.deletedWorkspace.findMany({
    select: { id: true, name: true, deletedAt: true },
    orderBy: { deletedAt: 'asc' },
  })
  const leaving = await system.workspace.findMany({
    where: { deletesAt: { not: null }, deletedAt: null },
    select: { id: true, name: true, deletesAt: true },
    orderBy: { deletesAt: 'asc' },
  })
  return [
    ...deleted.map(({ deletedAt, ...one }) => ({ ...one, deletesAt: deletedAt.toISOString() })),
    ...leaving.map(({ deletesAt, ...one }) => ({ ...one, deletesAt: (deletesAt as Date).toISOString() })),
  ]
}

/** What of a list is not so in this database. */
export type Undone = Pick<Removals, 'erasures' | 'deletions' | 'entries'>

/** Finds what of a list a restore has undone. Each is looked at by its key. */
export async function findUndone(database: Database, list: Removals): Promise<Undone> {
  const undone = new Set<string>()
  for (const page of pagesOf(list.entries)) {
    const entries = page.map(({ workspaceId: workspace_id, ...entry }) => ({ ...entry, workspace_id }))
    const found = await database.run<{ id: string }>('find_undone_removals', findUndoneSql, [
      writeJson(entries),
    ])
    for (const { id } of found) undone.add(id)
  }
  const living = new Set<string>()
  const kept = new Set<string>()
  const ids = [...list.erasures.map(({ workspaceId }) => workspaceId), ...list.deletions.map(({ id }) => id)]
  for (const page of pagesOf([...new Set(ids)])) {
    const where = { id: { in: page }, deletedAt: null }
    const found = await database.system.workspace.findMany({ where, select: { id: true, deletesAt: true } })
    for (const { id, deletesAt } of found) (deletesAt === null ? kept : living).add(id)
  }
  for (const id of kept) living.add(id)
  for (const page of pagesOf([...kept]))
    for (const { id } of await database.run<{ id: string }>('find_kept_since', findKeptSinceSql, [
      page,
      list.takenAt,
    ]))
      kept.delete(id)
  const made = new Set<string>()
  for (const page of pagesOf(list.erasures.map(({ id }) => id))) {
    const where = { id: { in: page }, status: { in: ['done', 'running'] } }
    for (const { id } of await database.system.erasure.findMany({ where, select: { id: true } })) made.add(id)
  }
  return {
    erasures: list.erasures.filter(({ id, workspaceId }) => living.has(workspaceId) && !made.has(id)),
    deletions: list.deletions.filter(({ id }) => kept.has(id)),
    entries: list.entries.filter(({ id }) => undone.has(id)),
  }
}

function* pagesOf<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let start = 0; start < items.length; start += together) yield items.slice(start, start + together)
}
