import jwt from '@fastify/jwt'
import type { FastifyInstance } from 'fastify'
import { LRUCache } from 'lru-cache'

// As in the product: a valid token is cached for ten seconds, by its whole text (apps/api/src/access/tokens.ts).
const cacheMs = 10_000
const maxCached = 10_000

/** Verifies the tokens of the product, and returns their user. @throws for any other token */
export async function cacheTokens(
  app: FastifyInstance,
  { JWT_SECRET = '', JWT_ISSUER = '', JWT_AUDIENCE = '' }: NodeJS.ProcessEnv,
): Promise<(authorization: string | undefined) => string> {
  await app.register(jwt, {
    secret: JWT_SECRET,
    verify: { allowedIss: JWT_ISSUER, allowedAud: JWT_AUDIENCE, algorithms: ['HS256'] },
  })
  const cache = new LRUCache<string, string>({ max: maxCached, ttl: cacheMs })
  return (authorization = '') => {
    const token = authorization.slice('Bearer '.length)
    const cached = cache.get(token)
    if (cached !== undefined) return cached
    const { sub } = app.jwt.verify<{ sub: string }>(token)
    cache.set(token, sub)
    return sub
  }
}
