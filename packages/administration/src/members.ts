import type { WorkspaceDatabase, WorkspaceTransaction } from '@automation/database'
import { Type } from 'typebox'
import { type Administrator, changeWorkspace } from './administrator.js'
import { Refused } from './refused.js'

export const UserId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'the `sub` of the user’s tokens',
})
export const Role = Type.Enum(['viewer', 'operator', 'editor', 'admin'], {
  description: 'each may do what the ones before it may',
})
export type Role = Type.Static<typeof Role>

export const Member = Type.Object({
  userId: UserId,
  role: Role,
  createdAt: Type.String({ format: 'date-time' }),
})
export type Member = Type.Static<typeof Member>

const fields = { userId: true, role: true, createdAt: true } as const

/** The oldest first. */
export async function listMembers(database: WorkspaceDatabase): Promise<Member[]> {
  const members = await database.member.findMany({
    select: fields,
    orderBy: [{ createdAt: 'asc' }, { userId: 'asc' }],
  })
  return members.map(present)
}

/**
 * Adds a member, or changes its role.
 *
 * @throws Refused where nobody would be left who may manage the workspace
 */
export function putMember(
  administrator: Administrator,
  { userId, role }: { userId: string; role: Role },
): Promise<{ member: Member; isNew: boolean }> {
  const where = { workspaceId_userId: { workspaceId: administrator.workspaceId, userId } }
  return changeWorkspace(administrator, async (transaction) => {
    const before = await transaction.member.findUnique({ where, select: { role: true } })
    if (role !== 'admin') await refuseToLoseLastAdmin(transaction, userId)
    const member = await transaction.member.upsert({
      where,
      create: { workspaceId: administrator.workspaceId, userId, role },
      update: { role },
      select: fields,
    })
    return {
      result: { member: present(member), isNew: before === null },
      action: before === null ? 'member.added' : 'member.changed',
      subject: userId,
      details: before === null ? { role } : { role, before: before.role },
    }
  })
}

/** @throws Refused where the user is no member, or is the last admin */
export function removeMember(administrator: Administrator, userId: string): Promise<void> {
  return changeWorkspace(administrator, async (transaction) => {
    await refuseToLoseLastAdmin(transaction, userId)
    const { count } = await transaction.member.deleteMany({ where: { userId } })
    if (count === 0) throw new Refused('not_found', 'Member not found')
    return { result: undefined, action: 'member.removed', subject: userId }
  })
}

async function refuseToLoseLastAdmin(transaction: WorkspaceTransaction, userId: string): Promise<void> {
  const admins = await transaction.member.findMany({
    where: { role: 'admin' },
    select: { userId: true },
    take: 2,
  })
  if (admins.length === 1 && admins[0]?.userId === userId)
    throw new Refused('conflict', 'A workspace needs an admin, and this is the last one')
}

function present({ createdAt, ...member }: Omit<Member, 'createdAt'> & { createdAt: Date }): Member {
  return { ...member, createdAt: createdAt.toISOString() }
}
