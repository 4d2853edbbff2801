import { SignJWT } from 'jose'
import { readKeyList } from './key-list.js'

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
