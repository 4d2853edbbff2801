import { SignJWT } from 'jose'

/** JWT_ISSUER and JWT_AUDIENCE of every product started here. */
export const tokenParty = 'automation-rules'

/** A JSON Web Token (HS256) that the API takes for this user. */
export async function mintToken(options: {
  secret: string
  userId: string
  expiresInSeconds: number
}): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  return new SignJWT()
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(options.userId)
    .setIssuer(tokenParty)
    .setAudience(tokenParty)
    .setIssuedAt(now)
    .setExpirationTime(now + options.expiresInSeconds)
    .sign(new TextEncoder().encode(options.secret))
}
