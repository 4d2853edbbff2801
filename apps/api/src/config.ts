import { readKeyList } from '@automation/access'
import { defaultReadLimits, type Plan } from '@automation/database'
import { workLimitsOf, workSettings } from '@automation/engine'
import {
  connections,
  connectionsOf,
  EnvironmentError,
  observability,
  observabilityOf,
  readEnvironment,
  retention,
  sealing,
  tokenSettings,
} from '@automation/process/settings'
import { Type } from 'typebox'

const figures = '<requests per minute>/<burst>'
const bucket = (fallback: string | undefined, description = figures) =>
  Type.String({
    ...(fallback !== undefined && { default: fallback }),
    pattern: '^[1-9]\\d{0,9}/[1-9]\\d{0,9}$',
    description,
  })

export const Environment = Type.Object({
  ...connections,
  ...observability,
  ...retention,
  ...workSettings,
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
  BODIES_IN_FLIGHT: Type.Integer({
    default: 33_554_432,
    minimum: 1_048_576,
    description:
      'bytes of request bodies that are unfinished, or above 64 KiB and worked on; a workspace has a quarter, and so have all strangers together',
  }),
  TRUST_PROXY: Type.Optional(
    Type.String({ description: 'comma-separated CIDRs of the proxies whose X-Forwarded-For is trusted' }),
  ),
  TRUST_TRACEPARENT: Type.Boolean({
    default: true,
    description:
      'true continues the traces of callers with permissions, false links to them; the traces of strangers and webhooks are always linked',
  }),
  ...tokenSettings,
  ...sealing,
  RATE_LIMIT_ANONYMOUS: bucket('10/15'),
  RATE_LIMIT_AUTHENTICATED: bucket('60/100'),
  RATE_LIMIT_ENTERPRISE: bucket('300/500'),
  RATE_LIMIT_WORKSPACE: Type.Optional(
    bucket(
      undefined,
      `${figures} of all keys and users within a standard workspace together, five times that in an enterprise one; by default ten times what one of them has`,
    ),
  ),
  RATE_LIMIT_CREATOR: Type.Optional(
    bucket(
      undefined,
      `${figures} of all standard workspaces that one user created, five times that of enterprise ones; by default thirty times what one key or user has`,
    ),
  ),
  WORKSPACES_PER_CREATOR: Type.Integer({
    default: 100,
    minimum: 1,
    maximum: 1_000_000,
    description: 'workspaces that one user may create through the API',
  }),
  DATABASE_POOL: Type.Integer({
    default: 10,
    minimum: 1,
    maximum: 200,
    description: 'connections to Postgres, a third of them for transactions, at least one of each kind',
  }),
  DOCS: Type.Boolean({
    default: true,
    description: 'whether /docs serves the OpenAPI document and a page that shows it, to everybody',
  }),
  READ_POOL: Type.Integer({
    default: defaultReadLimits.pool,
    minimum: 1,
    maximum: 100,
    description: 'connections to Postgres for the queries of callers, such as lists; opened when needed',
  }),
  READS_PER_WORKSPACE: Type.Integer({
    default: defaultReadLimits.perWorkspace,
    minimum: 1,
    maximum: 100,
    description: 'queries of one workspace at a time; 256 more wait for up to 10 s',
  }),
  READ_TIMEOUT: Type.Integer({
    default: defaultReadLimits.timeoutMs,
    minimum: 100,
    maximum: 60_000,
    description: 'milliseconds that a query of a caller may take',
  }),
  JUDGING_TIMEOUT: Type.Integer({
    default: 1_000,
    minimum: 100,
    maximum: 10_000,
    description:
      'milliseconds that one question may take: a dry run, an explanation, a preview, a check of rules, or a turn of a search; other workspaces wait for it',
  }),
  JUDGING_WORK: Type.Integer({
    default: 20_000_000,
    minimum: 10_000,
    maximum: 10_000_000_000,
    description:
      'units of work (25 ns or less) that one question may cost; raise it with RULE_WORK and EVENT_WORK',
  }),
  JUDGING_MEMORY: Type.Integer({
    default: 192,
    minimum: 32,
    maximum: 4_096,
    description: 'MB of the heap of the child process that evaluates on behalf of callers',
  }),
  DRAIN_SECONDS: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 300,
    description: 'seconds that it continues to serve, reported as not ready, after a request to stop',
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
    workLimits: workLimitsOf(environment),
    databasePool: environment.DATABASE_POOL,
    servesDocs: environment.DOCS,
    reads: {
      pool: environment.READ_POOL,
      perWorkspace: environment.READS_PER_WORKSPACE,
      timeoutMs: environment.READ_TIMEOUT,
    },
    evaluation: {
      timeoutMs: environment.JUDGING_TIMEOUT,
      work: environment.JUDGING_WORK,
      memoryMb: environment.JUDGING_MEMORY,
    },
    drainSeconds: environment.DRAIN_SECONDS,
    host: environment.HOST,
    port: environment.PORT,
    bodyLimitBytes: environment.BODY_LIMIT,
    bodiesInFlightBytes: environment.BODIES_IN_FLIGHT,
    trustsTraceparents: environment.TRUST_TRACEPARENT,
    trustProxy: environment.TRUST_PROXY?.split(',').map((cidr) => cidr.trim()) ?? false,
    tokens: {
      key: readKey(environment),
      issuer: environment.JWT_ISSUER,
      audience: environment.JWT_AUDIENCE,
    },
    encryptionKey: environment.ENCRYPTION_KEY,
    rateLimits: {
      anonymous: readBucket(environment.RATE_LIMIT_ANONYMOUS),
      authenticated: readBucket(environment.RATE_LIMIT_AUTHENTICATED),
      enterprise: readBucket(environment.RATE_LIMIT_ENTERPRISE),
      workspace: readUpperBuckets(environment, environment.RATE_LIMIT_WORKSPACE, 10),
      creator: readUpperBuckets(environment, environment.RATE_LIMIT_CREATOR, 30),
    },
    workspacesPerCreator: environment.WORKSPACES_PER_CREATOR,
  }
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

/** RATE_LIMIT_ENTERPRISE is five times RATE_LIMIT_AUTHENTICATED by default. */
const enterpriseTimes = 5

/**
 * Reads the buckets above those of callers, by plan. By default they are a multiple of a caller's, so that higher limits of callers
 * raise them, too. A set figure is that of standard workspaces, and enterprise ones have five times as much.
 */
function readUpperBuckets(
  { RATE_LIMIT_AUTHENTICATED, RATE_LIMIT_ENTERPRISE }: Type.Static<typeof Environment>,
  text: string | undefined,
  times: number,
): Record<Plan, Bucket> {
  const standard =
    text === undefined ? multiply(readBucket(RATE_LIMIT_AUTHENTICATED), times) : readBucket(text)
  const enterprise =
    text === undefined
      ? multiply(readBucket(RATE_LIMIT_ENTERPRISE), times)
      : multiply(standard, enterpriseTimes)
  return { standard, enterprise }
}

function multiply({ perMinute, burst }: Bucket, times: number): Bucket {
  return { perMinute: perMinute * times, burst: burst * times }
}

function readBucket(text: string): Bucket {
  const [perMinute, burst] = text.split('/').map(Number) as [number, number]
  return { perMinute, burst }
}
