import {
  Prisma,
  postgresNow,
  type UnscopedSql,
  type WorkspaceDatabase,
  type WorkspaceTransaction,
} from '@automation/database'
import { Type } from 'typebox'
import type { NewAuditEntry } from './audit.js'
import { type Administrator, changeWorkspace } from './change-workspace.js'
import { DateTime, orNull } from './credential.js'
import { Refused } from './refused.js'
import { withdrawLinksOf } from './withdraw-links.js'

export const UserId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'The `sub` claim of the user’s tokens',
})
export const Role = Type.Enum(['viewer', 'operator', 'editor', 'admin'], {
  title: 'Role',
  description: 'Each role has the permissions of the roles before it.',
})
export type Role = Type.Static<typeof Role>

export const Member = Type.Object(
  {
    userId: UserId,
    role: Role,
    createdAt: Type.String({ format: 'date-time' }),
    endsAt: orNull({
      ...DateTime,
      description:
        'Support access: when it ends by itself. null: the member stays until somebody removes them',
    }),
    reason: orNull(Type.String({ description: 'Why they have support access. null: nobody said' })),
  },
  { title: 'Member' },
)
export type Member = Type.Static<typeof Member>

/** How long support access may last, counted from each grant. */
export const maxSupportHours = 72

export const MemberToPut = Type.Object(
  {
    role: Role,
    endsInHours: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxSupportHours,
        description: 'Support access: it ends by itself after so many hours. The role is viewer',
      }),
    ),
    reason: Type.Optional(
      Type.String({ minLength: 1, maxLength: 500, description: 'Why they get support access' }),
    ),
  },
  { additionalProperties: false, title: 'MemberToPut' },
)
export type MemberToPut = Type.Static<typeof MemberToPut>

export const ListedMember = Type.Object(
  {
    ...Member.properties,
    lastSeenAt: orNull({
      ...DateTime,
      description:
        'When they last were in the workspace with a token of theirs, accurate to an hour. null: never',
    }),
  },
  { title: 'ListedMember' },
)
export type ListedMember = Type.Static<typeof ListedMember>

const hourMs = 3_600_000

const fields = { userId: true, role: true, createdAt: true, endsAt: true, reason: true } as const

/** Also the length of the list, which has no pages. */
const maxMembers = 1_000

/** Lists the members, at most 1,000, the oldest first. */
export async function listMembers(database: WorkspaceDatabase): Promise<ListedMember[]> {
  const members = await database.member.findMany({
    where: await whereNotEnded(database),
    select: { ...fields, seenAt: true },
    orderBy: [{ createdAt: 'asc' }, { userId: 'asc' }],
    take: maxMembers,
  })
  return members.map(({ seenAt, ...member }) => {
    return { ...presentMember(member), lastSeenAt: seenAt?.toISOString() ?? null }
  })
}

/** Notes that a user was in a workspace, and writes at most once an hour. Other workspaces hear nothing of it: their admins may have added anybody. */
export async function noteSeen(
  { member }: Pick<WorkspaceDatabase, 'member'>,
  userId: string,
  now: Date,
): Promise<void> {
  const hourAgo = new Date(now.getTime() - hourMs)
  await member.updateMany({
    where: { userId, OR: [{ seenAt: null }, { seenAt: { lt: hourAgo } }] },
    data: { seenAt: now },
  })
}

/** @throws Refused where the user is no member */
export async function findMember(
  database: Pick<WorkspaceTransaction, 'member' | '$queryRaw'>,
  userId: string,
): Promise<Member> {
  const found = isUserId(userId)
    ? await database.member.findFirst({
        where: { userId, ...(await whereNotEnded(database)) },
        select: fields,
      })
    : null
  if (found === null) throw new Refused('member_not_found', 'Member not found')
  return presentMember(found)
}

/** What a user gets. */
type Grant = { userId: string } & MemberToPut

/**
 * Adds a member, changes its role, or grants support access: as viewer, until its end.
 *
 * @throws Refused where the workspace would lose its last admin, or has 1,000 members, and for support access of another role, or of a member that stays
 */
export function putMember(
  administrator: Administrator,
  grant: Grant,
): Promise<{ member: Member; isNew: boolean }> {
  const { workspaceId } = administrator
  const { userId, role, endsInHours } = grant
  const where = { workspaceId_userId: { workspaceId, userId } }
  return changeWorkspace(administrator, async (transaction) => {
    refuseBadUserId(userId)
    refuseBadSupport(grant)
    await removeEnded(transaction, workspaceId)
    const before = await transaction.member.findUnique({ where, select: fields })
    const stays = before !== null && before.endsAt === null
    if (stays && endsInHours !== undefined)
      throw new Refused('already_a_member', 'They are a member already, and their access does not end')
    if (stays && before.role === role)
      return { result: { member: presentMember(before), isNew: false }, entry: undefined }
    if (role !== 'admin') {
      await refuseToLoseLastAdmin(transaction, userId)
      await withdrawLinksOf(transaction, `user:${userId}`)
    }
    const entry = await admit(transaction, { ...grant, workspaceId })
    const member = await transaction.member.findUniqueOrThrow({ where, select: fields })
    return { result: { member: presentMember(member), isNew: before === null }, entry }
  })
}

/** @throws Refused */
function refuseBadSupport({ role, endsInHours, reason }: Grant): void {
  if (endsInHours !== undefined && role !== 'viewer')
    throw new Refused('validation_failed', 'Must be viewer: support access only reads', 'role')
  if (endsInHours === undefined && reason !== undefined)
    throw new Refused('validation_failed', 'Needs endsInHours: only support access has a reason', 'reason')
}

/**
 * Gives a user a role, in the transaction of a change.
 *
 * @returns the entry for the audit log
 * @throws Refused where the workspace has 1,000 members
 */
export async function admit(
  transaction: WorkspaceTransaction,
  { workspaceId, userId, role, endsInHours, reason }: Grant & { workspaceId: string },
): Promise<NewAuditEntry> {
  await removeEnded(transaction, workspaceId)
  const before = await transaction.member.findFirst({ where: { userId }, select: { role: true } })
  if (before === null && (await transaction.member.count()) >= maxMembers)
    throw new Refused('limit_reached', `A workspace may have ${maxMembers} members`)
  const [row] = await transaction.$queryRaw<{ endsAt: Date | null }[]>(Prisma.sql`
    INSERT INTO members (workspace_id, user_id, role, ends_at, reason)
    VALUES (${workspaceId}::uuid, ${userId}, ${role}::role, now() + make_interval(hours => ${endsInHours ?? null}::int), ${reason ?? null})
    ON CONFLICT (workspace_id, user_id) DO UPDATE
    SET role = excluded.role, ends_at = excluded.ends_at, reason = excluded.reason
    RETURNING ends_at AS "endsAt"`)
  const endsAt = row?.endsAt ?? null
  const details = { role, ...(endsAt && { endsAt }), ...(reason && { reason }) }
  return before === null
    ? { action: 'member.added', subject: userId, details }
    : { action: 'member.changed', subject: userId, details: { ...details, before: before.role } }
}

/** Finds members whose access has not ended, by the clock of Postgres. */
export async function whereNotEnded(sql: UnscopedSql) {
  const [clock] = await sql.$queryRaw<{ now: Date }[]>(Prisma.sql`SELECT clock_timestamp() AS now`)
  return { OR: [{ endsAt: null }, { endsAt: { gt: clock?.now ?? new Date(postgresNow()) } }] }
}

/** A change of members begins with it: whose access has ended is no member any more. */
async function removeEnded(transaction: WorkspaceTransaction, workspaceId: string): Promise<void> {
  await transaction.$executeRaw(
    Prisma.sql`DELETE FROM members WHERE workspace_id = ${workspaceId}::uuid AND ends_at <= clock_timestamp()`,
  )
}

/**
 * @param isSupport only if their access ends by itself
 * @throws Refused where the user is no such member, or is the last admin
 */
export function removeMember(
  administrator: Administrator,
  userId: string,
  { isSupport = false } = {},
): Promise<void> {
  return changeWorkspace(administrator, async (transaction) => {
    refuseBadUserId(userId)
    await removeEnded(transaction, administrator.workspaceId)
    if (!isSupport) await refuseToLoseLastAdmin(transaction, userId)
    const { count } = await transaction.member.deleteMany({
      where: { userId, ...(isSupport && { endsAt: { not: null } }) },
    })
    if (count === 0) throw new Refused('member_not_found', 'Member not found')
    await withdrawLinksOf(transaction, `user:${userId}`)
    return { result: undefined, entry: { action: 'member.removed', subject: userId } }
  })
}

/** Whether a text can be the `sub` of a token, and be stored. */
export function isUserId(text: string): boolean {
  return text.length > 0 && text.length <= 255 && text.isWellFormed() && !text.includes('\0')
}

/** @throws Refused for a text that cannot be the `sub` of a token */
export function refuseBadUserId(userId: string, field = 'userId'): void {
  if (!isUserId(userId))
    throw new Refused(
      'validation_failed',
      'Must be 1 to 255 characters, none of them NUL or half of one',
      field,
    )
}

async function refuseToLoseLastAdmin(transaction: WorkspaceTransaction, userId: string): Promise<void> {
  const admins = await transaction.member.findMany({
    where: { role: 'admin' },
    select: { userId: true },
    take: 2,
  })
  if (admins.length === 1 && admins[0]?.userId === userId)
    throw new Refused('last_admin', 'A workspace needs an admin, and this is the last one')
}

function presentMember({
  createdAt,
  endsAt,
  ...member
}: Omit<Member, 'createdAt' | 'endsAt'> & { createdAt: Date; endsAt: Date | null }): Member {
  return { ...member, createdAt: createdAt.toISOString(), endsAt: endsAt?.toISOString() ?? null }
}
