import { SignJWT } from 'jose'
import { type Administrator, changeWorkspace } from './change-workspace.js'
import { readKeyList } from './key-list.js'
import { whereNotEnded } from './members.js'

/** JWT_ISSUER and JWT_AUDIENCE of every product that the launcher starts. */
export const tokenParty = 'automation-rules'

/**
 * Creates a JSON Web Token (HS256) for a user, for an API with this secret, issuer and audience.
 *
 * @param options.secret the value of JWT_SECRET: the first of its secrets signs
 */
export async function mintToken(options: {
  secret: string
  userId: string
  expiresInSeconds: number
  issuer?: string
  audience?: string
}): Promise<string> {
  const { issuer = tokenParty, audience = tokenParty } = options
  const now = Math.floor(Date.now() / 1000)
  return new SignJWT()
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(options.userId)
    .setIssuer(issuer)
    .setAudience(audience)
    .setIssuedAt(now)
    .setExpirationTime(now + options.expiresInSeconds)
    .sign(new TextEncoder().encode(readKeyList(options.secret)[0]))
}

/**
 * Writes the creation of a token to the audit log of every workspace that the token gives access to. Call it before mintToken.
 *
 * @returns these workspaces; a user who is a member of none has a token without an entry
 */
export async function recordToken(
  administrator: Omit<Administrator, 'workspaceId'>,
  { userId, expiresAt }: { userId: string; expiresAt: Date },
): Promise<{ id: string; name: string }[]> {
  const members = await administrator.database.system.member.findMany({
    where: { userId, ...(await whereNotEnded(administrator.database.system)) },
    select: { workspace: { select: { id: true, name: true } } },
    orderBy: { workspaceId: 'asc' },
  })
  const workspaces = members.map(({ workspace }) => workspace)
  const details = { expiresAt: expiresAt.toISOString() }
  for (const { id: workspaceId } of workspaces)
    await changeWorkspace({ ...administrator, workspaceId }, async () => {
      return { result: undefined, entry: { action: 'token.minted', subject: userId, details } }
    })
  return workspaces
}
