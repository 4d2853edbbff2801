import { isUserId } from '@automation/access'
import fastifyJwt, { type JWT } from '@fastify/jwt'
import type { FastifyInstance } from 'fastify'
import { createRemoteJWKSet, errors, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Config } from '../config.js'
import { Refusal, refusals } from '../errors.js'
import { chooseFault, describeTokenFault, type TokenFault } from './token-faults.js'

declare module '@fastify/jwt' {
  interface FastifyJWT {
    /** One for each secret, in the order of JWT_SECRET. */
    namespaces: `secret${number}`
  }
}

/**
 * Verifies a token.
 *
 * @returns the user (`sub`) of a valid token; the fault of any other text
 * @throws a 503 refusal where the keys cannot be fetched, by its promise
 */
export type VerifyToken = (token: string) => Promise<{ subject: string } | TokenFault>

const leewaySeconds = 60
/** How long (ms) a valid token is cached, unless it expires earlier: to verify a token costs as much as to serve a request. */
const cacheMs = 10_000
const maxCached = 10_000
const requiredClaims = ['exp', 'sub', 'iss', 'aud']

/** The claims of a valid token. */
interface ValidToken {
  subject: string
  /** s since 1970 */
  expiresAt: number
}

type ReadToken = (token: string) => Promise<ValidToken | TokenFault>

export async function createVerifier(app: FastifyInstance, tokens: Config['tokens']): Promise<VerifyToken> {
  return cacheValid(
    tokens.key.family === 'secret'
      ? await createSecretReader(app, tokens.key.secrets, tokens)
      : createKeySetReader(tokens.key.url, tokens),
  )
}

/**
 * Caches valid tokens only, each by its whole text, and none after it expired. The cache does not outlive a secret: settings are read
 * at the start of a process, so a removed secret means another process and an empty cache.
 */
function cacheValid(read: ReadToken): VerifyToken {
  const cache = new LRUCache<string, ValidToken>({ max: maxCached, ttl: cacheMs })
  return async (token) => {
    const cached = cache.get(token)
    if (cached && Date.now() < (cached.expiresAt + leewaySeconds) * 1_000) return cached
    const found = await read(token)
    if (!('fault' in found)) cache.set(token, found)
    return found
  }
}

/**
 * Accepts HS256 only: a token with another algorithm is refused unread. Each secret has a verifier of its own, since a token does
 * not name its secret. They try in turn, the first secret first, so one secret costs what it would cost alone.
 */
async function createSecretReader(
  app: FastifyInstance,
  secrets: string[],
  { issuer, audience }: Config['tokens'],
): Promise<ReadToken> {
  for (const [index, secret] of secrets.entries())
    await app.register(fastifyJwt, {
      secret,
      namespace: `secret${index}`,
      verify: {
        algorithms: ['HS256'],
        allowedIss: issuer,
        allowedAud: audience,
        requiredClaims,
        clockTolerance: leewaySeconds * 1_000,
        complete: true,
      },
    })
  const verifiers = Object.values(app.jwt)
  return async (token) => {
    const faults: TokenFault[] = []
    for (const verifier of verifiers) {
      const found = readSigned(verifier, token)
      if (!('fault' in found)) return found
      faults.push(found)
    }
    return chooseFault(faults)
  }
}

function readSigned(verifier: JWT, token: string): ValidToken | TokenFault {
  try {
    const { header, payload } = verifier.verify<{ header: object; payload: object }>(token)
    // RFC 7515: an unknown critical extension makes a token invalid, and this service knows none.
    return 'crit' in header
      ? { fault: 'A critical header of the token is not supported' }
      : readClaims(payload)
  } catch (error) {
    return describeTokenFault(error)
  }
}

/** Accepts RS256 and EdDSA with the identity provider's published keys. They are fetched once, and again for an unknown key id. */
function createKeySetReader(url: URL, { issuer, audience }: Config['tokens']): ReadToken {
  const keySet = createRemoteJWKSet(url, { timeoutDuration: 3_000 })
  const findKey: typeof keySet = Object.assign(async (...request: Parameters<typeof keySet>) => {
    try {
      return await keySet(...request)
    } catch (error) {
      // A missing key is a fault of the token; any other error is a fault of the provider.
      if (tokenFaults.some((fault) => error instanceof fault)) throw error
      throw refusals.unavailable(error as Error)
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
      return describeTokenFault(error)
    }
  }
}

const tokenFaults = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported]

function readClaims(payload: unknown): ValidToken | TokenFault {
  const { sub: subject, exp: expiresAt } = payload as { sub?: unknown; exp?: unknown }
  return typeof subject === 'string' && isUserId(subject) && typeof expiresAt === 'number'
    ? { subject, expiresAt }
    : { fault: 'The claim sub of the token is not a user id' }
}
