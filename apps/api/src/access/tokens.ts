import { isUserId } from '@automation/access'
import fastifyJwt from '@fastify/jwt'
import type { FastifyInstance } from 'fastify'
import { createRemoteJWKSet, errors, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Config } from '../config.js'
import { Refusal, refusals } from '../errors.js'

/** Answers the user (`sub`) of a good token, and undefined for every other text. Throws only where keys are out of reach. */
export type VerifyToken = (token: string) => Promise<string | undefined>

const leewaySeconds = 60
/** For how long (ms) a token that was good is not looked at again, unless it expires before: checking one costs as much as answering. */
const rememberMs = 10_000
const maxRemembered = 10_000
const requiredClaims = ['exp', 'sub', 'iss', 'aud']

/** What a good token says. */
interface GoodToken {
  subject: string
  /** s since 1970 */
  expiresAt: number
}

type ReadToken = (token: string) => Promise<GoodToken | undefined>

export async function createVerifier(app: FastifyInstance, tokens: Config['tokens']): Promise<VerifyToken> {
  return rememberGood(
    tokens.key.family === 'secret'
      ? await createSecretReader(app, tokens.key.secret, tokens)
      : createKeySetReader(tokens.key.url, tokens),
  )
}

/** Only good tokens are remembered, each by its whole text, and none beyond its time. */
function rememberGood(read: ReadToken): VerifyToken {
  const good = new LRUCache<string, GoodToken>({ max: maxRemembered, ttl: rememberMs })
  return async (token) => {
    const known = good.get(token)
    if (known && Date.now() < (known.expiresAt + leewaySeconds) * 1_000) return known.subject
    const found = await read(token)
    if (found) good.set(token, found)
    return found?.subject
  }
}

/** HS256 and nothing else: a token that names another algorithm is not even looked at. */
async function createSecretReader(
  app: FastifyInstance,
  secret: string,
  { issuer, audience }: Config['tokens'],
): Promise<ReadToken> {
  await app.register(fastifyJwt, {
    secret,
    verify: {
      algorithms: ['HS256'],
      allowedIss: issuer,
      allowedAud: audience,
      requiredClaims,
      clockTolerance: leewaySeconds * 1_000,
      complete: true,
    },
  })
  return async (token) => {
    try {
      const { header, payload } = app.jwt.verify<{ header: object; payload: object }>(token)
      // RFC 7515: a critical extension that is not understood makes the token invalid, and we understand none.
      return 'crit' in header ? undefined : readClaims(payload)
    } catch {
      return undefined
    }
  }
}

/** RS256 or EdDSA by the identity provider's published keys, fetched once and again when a new key id turns up. */
function createKeySetReader(url: URL, { issuer, audience }: Config['tokens']): ReadToken {
  const keySet = createRemoteJWKSet(url, { timeoutDuration: 3_000 })
  const findKey: typeof keySet = Object.assign(async (...wanted: Parameters<typeof keySet>) => {
    try {
      return await keySet(...wanted)
    } catch (error) {
      // That no key fits is the token's fault; whatever else happens here is the provider's.
      if (tokenFaults.some((fault) => error instanceof fault)) throw error
      throw refusals.unavailable()
    }
  }, keySet)
  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, findKey, {
        algorithms: ['RS256', 'EdDSA'],
        issuer,
        audience,
        requiredClaims,
        clockTolerance: leewaySeconds,
      })
      return readClaims(payload)
    } catch (error) {
      if (error instanceof Refusal) throw error
      return undefined
    }
  }
}

const tokenFaults = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported]

function readClaims(payload: unknown): GoodToken | undefined {
  const { sub: subject, exp: expiresAt } = payload as { sub?: unknown; exp?: unknown }
  return typeof subject === 'string' && isUserId(subject) && typeof expiresAt === 'number'
    ? { subject, expiresAt }
    : undefined
}
