import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import {
  type Database,
  isUuid,
  newId,
  type Prisma,
  postgresNow,
  type WorkspaceDatabase,
} from '@automation/database'
import { Type } from 'typebox'
import { type Administrator, changeWorkspace } from './change-workspace.js'
import { DateTime, orNull, textOnce } from './credential.js'
import { admit, Role, whereNotEnded } from './members.js'
import { Refused } from './refused.js'

export const Invitation = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    role: Role,
    state: Type.Enum(['open', 'accepted', 'revoked', 'expired']),
    createdBy: Type.String({ description: 'Who made it, as the audit log names them' }),
    createdAt: DateTime,
    expiresAt: DateTime,
    acceptedAt: orNull(DateTime),
    acceptedBy: orNull(Type.String({ description: 'The user who has accepted it' })),
    revokedAt: orNull(DateTime),
  },
  { title: 'Invitation' },
)
export type Invitation = Type.Static<typeof Invitation>

/** The only response that contains the token. */
export const NewInvitation = Type.Object(
  {
    ...Invitation.properties,
    ...textOnce(
      'token',
      'The token, which the link has behind its `#`: `<address of the console>/join#<token>`. The service stores only its SHA-256.',
    ),
  },
  { title: 'NewInvitation' },
)
export type NewInvitation = Invitation & { token: string }

export const InvitationToCreate = Type.Object(
  { role: Role },
  { additionalProperties: false, title: 'InvitationToCreate' },
)

const maxOpen = 100
/** With those that are over: the oldest of these make room. The audit log has all of them. */
const maxKept = 1_000
const lifetimeMs = 7 * 24 * 60 * 60 * 1_000

/** Invites one user. @throws Refused where the workspace has 100 open invitations */
export function createInvitation(
  administrator: Administrator,
  { role }: Type.Static<typeof InvitationToCreate>,
): Promise<NewInvitation> {
  const { workspaceId, actor } = administrator
  const id = newId()
  const token = `inv_${id}_${randomBytes(32).toString('base64url')}`
  return changeWorkspace(administrator, async ({ invitation }) => {
    if ((await invitation.count({ where: isOpen() })) >= maxOpen)
      throw new Refused('limit_reached', `A workspace may have ${maxOpen} open invitations`)
    const surplus = await invitation.findMany({
      where: { NOT: isOpen() },
      orderBy: { id: 'desc' },
      skip: maxKept - maxOpen,
      select: { id: true },
    })
    if (surplus.length > 0)
      await invitation.deleteMany({ where: { id: { in: surplus.map((one) => one.id) } } })
    const expiresAt = new Date(postgresNow() + lifetimeMs)
    const row = await invitation.create({
      data: { id, workspaceId, role, hash: hashToken(token), createdBy: actor, expiresAt },
    })
    return {
      result: { ...presentInvitation(row), token },
      entry: { action: 'invitation.created', subject: id, details: { role, expiresAt } },
    }
  })
}

/** Lists the invitations, at most 1,000, the newest first. */
export async function listInvitations({ invitation }: WorkspaceDatabase): Promise<Invitation[]> {
  const rows = await invitation.findMany({ orderBy: { id: 'desc' }, take: maxKept })
  return rows.map(presentInvitation)
}

/** Revokes one that is open; to do so again changes nothing. @throws Refused where there is none, or somebody has accepted it */
export function revokeInvitation(administrator: Administrator, id: string): Promise<void> {
  return changeWorkspace(administrator, async ({ invitation }) => {
    const found = isUuid(id) ? await invitation.findUnique({ where: { id } }) : null
    if (found === null || found.acceptedAt !== null) throw noSuchInvitation()
    if (found.revokedAt !== null) return { result: undefined, entry: undefined }
    await invitation.update({ where: { id }, data: { revokedAt: new Date(postgresNow()) } })
    return {
      result: undefined,
      entry: { action: 'invitation.revoked', subject: id, details: { role: found.role } },
    }
  })
}

/** What an invitation is for, and what has become of it for the user who asks. */
export const InvitationForUser = Type.Object(
  {
    workspace: Type.Object({ id: Type.String({ format: 'uuid' }), name: Type.String() }),
    role: { ...Role, description: 'The role that the user gets, or has got, by it' },
    currentRole: orNull(
      Type.Enum([...Role.enum], { description: 'The present role of the user. null: they are no member' }),
    ),
    accepted: Type.Boolean({ description: 'Whether this user has accepted it' }),
  },
  { title: 'InvitationForUser' },
)
export type InvitationForUser = Type.Static<typeof InvitationForUser>

/** Reads an invitation for a user who has its token, and changes nothing. @throws Refused, the same for each token that is worth nothing */
export async function readInvitation(
  database: Database,
  token: string,
  userId: string,
): Promise<InvitationForUser> {
  const { workspaceId } = await findByToken(database, token)
  const scoped = database.forWorkspace(workspaceId)
  const found = await readFor(scoped, token, userId)
  const { name } = await scoped.workspace.findUniqueOrThrow({
    where: { id: workspaceId },
    select: { name: true },
  })
  const { role, currentRole, acceptedAt } = found
  return { workspace: { id: workspaceId, name }, role, currentRole, accepted: acceptedAt !== null }
}

/**
 * Makes a user a member by the token of an invitation, once: the invitation, the member and the audit log change in one transaction, and those of
 * a workspace happen one after another. To accept it again changes nothing.
 *
 * @throws Refused, the same for each token that is worth nothing; also where the user has that role, or a higher one, and where the workspace is full
 */
export async function acceptInvitation(
  { database, publish }: Pick<Administrator, 'database' | 'publish'>,
  token: string,
  userId: string,
): Promise<InvitationForUser> {
  const { workspaceId } = await findByToken(database, token)
  const author = { database, workspaceId, actor: `user:${userId}`, ...(publish && { publish }) }
  await changeWorkspace(author, async (transaction) => {
    const { id, role, createdBy, currentRole, isSupport, acceptedAt } = await readFor(
      transaction,
      token,
      userId,
    )
    if (acceptedAt !== null) return { result: undefined, entry: undefined }
    if (currentRole !== null && !isSupport && ranks[currentRole] >= ranks[role])
      throw new Refused('already_a_member', `You are a member already, as ${currentRole}`)
    const { count } = await transaction.invitation.updateMany({
      where: { id, ...isOpen() },
      data: { acceptedAt: new Date(postgresNow()), acceptedBy: userId },
    })
    if (count === 0) throw noSuchInvitation()
    const entry = await admit(transaction, { workspaceId, userId, role })
    // They are looking at it.
    await transaction.member.updateMany({ where: { userId }, data: { seenAt: new Date(postgresNow()) } })
    const details = { role, invitedBy: createdBy }
    return {
      result: undefined,
      entry: [{ action: 'invitation.accepted' as const, subject: id, details }, entry],
    }
  })
  return readInvitation(database, token, userId)
}

const ranks: Record<Role, number> = { viewer: 0, operator: 1, editor: 2, admin: 3 }

/** Who sees it, whatever is wrong with a token, learns nothing of the others. */
function noSuchInvitation(): Refused {
  return new Refused(
    'invitation_not_found',
    'The invitation is not valid: it was used or revoked, or has expired',
  )
}

async function findByToken({ system }: Database, token: string) {
  const id = /^inv_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_[A-Za-z0-9_-]{43}$/.exec(token)?.[1]
  const row = id === undefined ? null : await system.invitation.findUnique({ where: { id } })
  if (row === null || !timingSafeEqual(row.hash, hashToken(token))) throw noSuchInvitation()
  return row
}

/** @throws Refused where it is neither open nor accepted by this user, or who made it may not invite any more */
async function readFor(
  transaction: Pick<WorkspaceDatabase, 'invitation' | 'member' | 'apiKey' | '$queryRaw'>,
  token: string,
  userId: string,
) {
  const where = { hash: hashToken(token), OR: [isOpen(), { acceptedBy: userId }] }
  const found = await transaction.invitation.findFirst({ where })
  if (found === null) throw noSuchInvitation()
  if (found.acceptedAt === null && !(await mayInvite(transaction, found.createdBy))) throw noSuchInvitation()
  const member = await transaction.member.findFirst({
    where: { userId, ...(await whereNotEnded(transaction)) },
    select: { role: true, endsAt: true },
  })
  // Who was removed since then reads nothing by it.
  if (found.acceptedAt !== null && member === null) throw noSuchInvitation()
  return { ...found, currentRole: member?.role ?? null, isSupport: member?.endsAt instanceof Date }
}

/** An admin who has gone leaves no way back in. */
async function mayInvite(
  { member, apiKey }: Pick<WorkspaceDatabase, 'member' | 'apiKey'>,
  actor: string,
): Promise<boolean> {
  const [kind, ...rest] = actor.split(':')
  const id = rest.join(':')
  if (kind === 'user') return (await member.count({ where: { userId: id, role: 'admin' } })) > 0
  const isValid = {
    revokedAt: null,
    OR: [{ expiresAt: null }, { expiresAt: { gt: new Date(postgresNow()) } }],
  }
  return (
    kind === 'api_key' && (await apiKey.count({ where: { id, scopes: { has: 'admin' }, ...isValid } })) > 0
  )
}

function isOpen() {
  return { acceptedAt: null, revokedAt: null, expiresAt: { gt: new Date(postgresNow()) } }
}

/** SHA-256 suffices: a token contains 32 random bytes, which nobody can guess. */
function hashToken(token: string): Buffer<ArrayBuffer> {
  return Buffer.from(hash('sha256', token, 'hex'), 'hex')
}

function presentInvitation(
  row: Omit<Prisma.InvitationGetPayload<object>, 'workspaceId' | 'hash'>,
): Invitation {
  const { id, role, createdBy, createdAt, expiresAt, acceptedAt, acceptedBy, revokedAt } = row
  const isOver = expiresAt.getTime() <= postgresNow()
  return {
    ...{ id, role, createdBy, acceptedBy },
    state: acceptedAt ? 'accepted' : revokedAt ? 'revoked' : isOver ? 'expired' : 'open',
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    acceptedAt: acceptedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
  }
}
