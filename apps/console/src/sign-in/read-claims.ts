/**
 * The end of a JSON Web Token, which a session must not outlive. Nothing is verified: the API does that at each request.
 *
 * @returns nothing for an API key and for a token without a readable end
 */
export function readExpiry(bearer: string): { bearerExpiresAt?: number } {
  const { exp } = readClaims(bearer)
  return typeof exp === 'number' ? { bearerExpiresAt: Math.floor(exp) } : {}
}

const maxNameLength = 100

/** Whom a token names, for a sentence. It is not verified. */
export function describeBearer(bearer: string): string {
  const { sub } = readClaims(bearer)
  return typeof sub === 'string' && sub !== ''
    ? [...sub].slice(0, maxNameLength).join('')
    : 'the owner of a key'
}

function readClaims(bearer: string): { exp?: unknown; sub?: unknown } {
  try {
    const claims = JSON.parse(Buffer.from(bearer.split('.')[1] ?? '', 'base64url').toString())
    return typeof claims === 'object' && claims !== null ? claims : {}
  } catch {
    return {}
  }
}
