import fastifyJwt from '@fastify/jwt'
import type { FastifyInstance } from 'fastify'
import { createRemoteJWKSet, errors, jwtVerify } from 'jose'
import type { Config } from './config.js'
import { refusals } from './errors.js'

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
    },
  })
  return async (token) => {
    try {
      const { header } = app.jwt.decode<{ header: object }>(token, { complete: true }) ?? {}
      // RFC 7515: a critical extension that is not understood makes the token invalid, and we understand none.
      if (header === undefined || 'crit' in header) return undefined
      return subjectOf(app.jwt.verify(token))
    } catch {
      return undefined
    }
  }
}

/** RS256 or EdDSA by the identity provider's published keys, fetched once and again when a new key id turns up. */
function createKeySetVerifier(url: URL, { issuer, audience }: Config['tokens']): VerifyToken {
  const keySet = createRemoteJWKSet(url, { timeoutDuration: 3_000 })
  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keySet, {
        algorithms: ['RS256', 'EdDSA'],
        issuer,
        audience,
        requiredClaims,
        clockTolerance: leewaySeconds,
      })
      return subjectOf(payload)
    } catch (error) {
      if (isKeySetAway(error)) throw refusals.unavailable()
      return undefined
    }
  }
}

function isKeySetAway(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout) return true
  // jose reports every fault of a token as one of its own errors; what is left is the network.
  return (
    !(error instanceof errors.JOSEError) && error instanceof TypeError && error.message === 'fetch failed'
  )
}

function subjectOf(payload: unknown): string | undefined {
  const subject = (payload as { sub?: unknown }).sub
  const isUsable = typeof subject === 'string' && subject.length > 0 && subject.length <= 255
  return isUsable && subject.isWellFormed() && !subject.includes('\0') ? subject : undefined
}
