import type { WorkspaceDatabase, WorkspaceTransaction } from '@automation/database'
import { Type } from 'typebox'
import type { NewAuditEntry } from './audit.js'
import { type Administrator, changeWorkspace } from './change-workspace.js'
import { DateTime, orNull } from './credential.js'
import { Refused } from './refused.js'
import { revokeInvitationsOf } from './revoke-invitations.js'

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
  },
  { title: 'Member' },
)
export type Member = Type.Static<typeof Member>

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

const fields = { userId: true, role: true, createdAt: true } as const

/** Also the length of the list, which has no pages. */
const maxMembers = 1_000

/** Lists the members, at most 1,000, the oldest first. */
export async function listMembers(database: WorkspaceDatabase): Promise<ListedMember[]> {
  const members = await database.member.findMany({
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
  { member }: Pick<WorkspaceTransaction, 'member'>,
  userId: string,
): Promise<Member> {
  const found = isUserId(userId) ? await member.findFirst({ where: { userId }, select: fields }) : null
  if (found === null) throw new Refused('member_not_found', 'Member not found')
  return presentMember(found)
}

/**
 * Adds a member, or changes its role.
 *
 * @throws Refused where the workspace would lose its last admin, or has 1,000 members
 */
export function putMember(
  administrator: Administrator,
  { userId, role }: { userId: string; role: Role },
): Promise<{ member: Member; isNew: boolean }> {
  const where = { workspaceId_userId: { workspaceId: administrator.workspaceId, userId } }
  return changeWorkspace(administrator, async (transaction) => {
    refuseBadUserId(userId)
    const before = await transaction.member.findUnique({ where, select: fields })
    if (before?.role === role)
      return { result: { member: presentMember(before), isNew: false }, entry: undefined }
    if (role !== 'admin') {
      await refuseToLoseLastAdmin(transaction, userId)
      await revokeInvitationsOf(transaction, `user:${userId}`)
    }
    const entry = await admit(transaction, { workspaceId: administrator.workspaceId, userId, role })
    const member = await transaction.member.findUniqueOrThrow({ where, select: fields })
    return { result: { member: presentMember(member), isNew: before === null }, entry }
  })
}

/**
 * Gives a user a role, in the transaction of a change.
 *
 * @returns the entry for the audit log
 * @throws Refused where the workspace has 1,000 members
 */
export async function admit(
  transaction: WorkspaceTransaction,
  { workspaceId, userId, role }: { workspaceId: string; userId: string; role: Role },
): Promise<NewAuditEntry> {
  const where = { workspaceId_userId: { workspaceId, userId } }
  const before = await transaction.member.findUnique({ where, select: { role: true } })
  if (before === null && (await transaction.member.count()) >= maxMembers)
    throw new Refused('limit_reached', `A workspace may have ${maxMembers} members`)
  await transaction.member.upsert({ where, create: { workspaceId, userId, role }, update: { role } })
  return before === null
    ? { action: 'member.added', subject: userId, details: { role } }
    : { action: 'member.changed', subject: userId, details: { role, before: before.role } }
}

/** @throws Refused where the user is no member, or is the last admin */
export function removeMember(administrator: Administrator, userId: string): Promise<void> {
  return changeWorkspace(administrator, async (transaction) => {
    refuseBadUserId(userId)
    await refuseToLoseLastAdmin(transaction, userId)
    const { count } = await transaction.member.deleteMany({ where: { userId } })
    if (count === 0) throw new Refused('member_not_found', 'Member not found')
    await revokeInvitationsOf(transaction, `user:${userId}`)
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

function presentMember({ createdAt, ...member }: Omit<Member, 'createdAt'> & { createdAt: Date }): Member {
  return { ...member, createdAt: createdAt.toISOString() }
}
