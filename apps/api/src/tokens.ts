import { isUserId } from '@automation/administration'
import fastifyJwt from '@fastify/jwt'
import type { FastifyInstance } from 'fastify'
import { createRemoteJWKSet, errors, jwtVerify } from 'jose'
import type { Config } from './config.js'
import { Refusal, refusals } from './errors.js'

/** Answers the user (`sub`) of a good token, and undefined for every other text. Throws only where keys are out of reach. */
export type VerifyToken = (token: string) => Promise<string | undefined>

const leewaySeconds = 60
const requiredClaims = ['exp', 'sub', 'iss', 'aud']

export async function createVerifier(app: FastifyInstance, tokens: Config['tokens']): Promise<VerifyToken> {
  return tokens.key.family === 'secret'
    ? createSecretVerifier(app, tokens.key.secret, tokens)
    : createKeySetVerifier(tokens.key.url, tokens)
}

/** HS256 and nothing else: a token that names another algorithm is not even looked at. */
async function createSecretVerifier(
  app: FastifyInstance,
  secret: string,
  { issuer, audience }: Config['tokens'],
): Promise<VerifyToken> {
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
      return 'crit' in header ? undefined : subjectOf(payload)
    } catch {
      return undefined
    }
  }
}

/** RS256 or EdDSA by the identity provider's published keys, fetched once and again when a new key id turns up. */
function createKeySetVerifier(url: URL, { issuer, audience }: Config['tokens']): VerifyToken {
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
      return subjectOf(payload)
    } catch (error) {
      if (error instanceof Refusal) throw error
      return undefined
    }
  }
}

const tokenFaults = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported]

function subjectOf(payload: unknown): string | undefined {
  const subject = (payload as { sub?: unknown }).sub
  return typeof subject === 'string' && isUserId(subject) ? subject : undefined
}
