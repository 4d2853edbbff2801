/**
 * The end of a JSON Web Token, which a session must not outlive. Nothing is verified: the API does that at each request.
 *
 * @returns nothing for an API key and for a token without a readable end
 */
export function readExpiry(bearer: string): { bearerExpiresAt?: number } {
  try {
    const payload = JSON.parse(Buffer.from(bearer.split('.')[1] ?? '', 'base64url').toString())
    return typeof payload.exp === 'number' ? { bearerExpiresAt: Math.floor(payload.exp) } : {}
  } catch {
    return {}
  }
}
