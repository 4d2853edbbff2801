import { isFrameOrigin, readKeyList } from '@automation/access'
import type { Plan } from '@automation/database'
import {
  connections,
  connectionsOf,
  consoleSettings,
  EnvironmentError,
  observability,
  observabilityOf,
  readEnvironment,
  retention,
  sealing,
  tokenSettings,
} from '@automation/process/settings'
import { Type } from 'typebox'

const bucket = (usual: string) =>
  Type.String({
    default: usual,
    pattern: '^[1-9]\\d{0,9}/[1-9]\\d{0,9}$',
    description: '<requests per minute>/<burst>',
  })

export const Environment = Type.Object({
  ...connections,
  ...observability,
  ...retention,
  HOST: Type.String({ default: '127.0.0.1', description: 'address to listen on' }),
  PORT: Type.Integer({
    default: 3000,
    minimum: 0,
    maximum: 65_535,
    description: 'port to listen on; 0 takes any free port',
  }),
  BODY_LIMIT: Type.Integer({
    default: 1_048_576,
    minimum: 1_024,
    description: 'maximum size of a request body in bytes',
  }),
  TRUST_PROXY: Type.Optional(
    Type.String({ description: 'comma-separated CIDRs of the proxies whose X-Forwarded-For is trusted' }),
  ),
  ...tokenSettings,
  ...sealing,
  RATE_LIMIT_ANONYMOUS: bucket('10/15'),
  RATE_LIMIT_AUTHENTICATED: bucket('60/100'),
  RATE_LIMIT_ENTERPRISE: bucket('300/500'),
  DATABASE_POOL: Type.Integer({
    default: 10,
    minimum: 1,
    maximum: 200,
    description: 'connections to Postgres; a third of them, at least one, is for transactions',
  }),
  CONSOLE_URL: consoleSettings.CONSOLE_URL,
  EMBED_ORIGINS: Type.Optional(
    Type.Refine(
      Type.String({
        description:
          'comma-separated origins, such as https://app.example.com, whose pages may frame the embed sessions of every workspace',
      }),
      (text) => readOrigins(text).every(isFrameOrigin),
      () =>
        'must be origins as browsers send them: https, or http on localhost or 127.0.0.1, without a path or a usual port',
    ),
  ),
  DRAIN_SECONDS: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 300,
    description:
      'seconds for which the process continues to serve, reported as not ready, after a request to stop',
  }),
})

export type Config = ReturnType<typeof readConfig>

/** @throws EnvironmentError that lists all faults at once */
export function readConfig(variables: Record<string, string | undefined> = process.env) {
  const environment = readEnvironment(Environment, variables)
  return {
    ...connectionsOf(environment),
    observability: observabilityOf(environment),
    retentionDays: environment.RETENTION_DAYS,
    databasePool: environment.DATABASE_POOL,
    consoleUrl: environment.CONSOLE_URL.replace(/\/+$/, ''),
    embedOrigins: readOrigins(environment.EMBED_ORIGINS),
    drainSeconds: environment.DRAIN_SECONDS,
    host: environment.HOST,
    port: environment.PORT,
    bodyLimitBytes: environment.BODY_LIMIT,
    trustProxy: environment.TRUST_PROXY?.split(',').map((cidr) => cidr.trim()) ?? false,
    tokens: {
      key: readKey(environment),
      issuer: environment.JWT_ISSUER,
      audience: environment.JWT_AUDIENCE,
    },
    encryptionKey: environment.ENCRYPTION_KEY,
    rateLimits: readRateLimits(environment),
  }
}

function readOrigins(text = ''): string[] {
  return text === '' ? [] : text.split(',').map((origin) => origin.trim())
}

/** Exactly one family of signatures is accepted. */
function readKey({ JWT_SECRET, JWKS_URL }: Type.Static<typeof Environment>) {
  if (JWT_SECRET && !JWKS_URL) return { family: 'secret' as const, secrets: readKeyList(JWT_SECRET) }
  if (JWKS_URL && !JWT_SECRET) return { family: 'jwks' as const, url: new URL(JWKS_URL) }
  throw new EnvironmentError([
    'Set either JWT_SECRET (HS256) or JWKS_URL (RS256, EdDSA), and only one of them',
  ])
}

/** A token bucket: it holds `burst` tokens and gains `perMinute`. */
export interface Bucket {
  perMinute: number
  burst: number
}

/** A workspace is used by some ten busy people and programs. */
const workspaceTimes = 10
/** Somebody who creates workspaces has three busy ones at most: more of them are no way around a limit. */
const creatorTimes = 30

/** The buckets above those of callers, by plan, are a multiple of a caller's: higher limits of callers raise them, too. */
function readRateLimits(environment: Type.Static<typeof Environment>) {
  const authenticated = readBucket(environment.RATE_LIMIT_AUTHENTICATED)
  const enterprise = readBucket(environment.RATE_LIMIT_ENTERPRISE)
  const multiplyBoth = (times: number): Record<Plan, Bucket> => ({
    standard: multiply(authenticated, times),
    enterprise: multiply(enterprise, times),
  })
  return {
    anonymous: readBucket(environment.RATE_LIMIT_ANONYMOUS),
    authenticated,
    enterprise,
    workspace: multiplyBoth(workspaceTimes),
    creator: multiplyBoth(creatorTimes),
  }
}

function multiply({ perMinute, burst }: Bucket, times: number): Bucket {
  return { perMinute: perMinute * times, burst: burst * times }
}

function readBucket(text: string): Bucket {
  const [perMinute, burst] = text.split('/').map(Number) as [number, number]
  return { perMinute, burst }
}
