import { Type } from 'typebox'
import { Convert, Default, Errors } from 'typebox/value'

export { type Foundation, waitOrExit, waitUntilThere } from './wait-until-there.js'

/** Every fault of the environment at once, one a line. */
export class EnvironmentError extends Error {
  constructor(faults: string[]) {
    super(`The environment does not fit:\n${faults.map((fault) => `  ${fault}`).join('\n')}`)
    this.name = 'EnvironmentError'
  }
}

/**
 * Reads settings from environment variables: one schema gives types, defaults and limits. An empty variable counts
 * as one that is not set; variables that the schema does not name are nobody's business.
 *
 * @throws EnvironmentError that lists all faults
 */
export function readEnvironment<Schema extends Type.TObject>(
  schema: Schema,
  variables: Record<string, string | undefined>,
): Type.Static<Schema> {
  const named = Object.keys(schema.properties).flatMap((name) =>
    variables[name] ? [[name, variables[name]]] : [],
  )
  const settings = Convert(schema, Default(schema, Object.fromEntries(named)))
  const faults = Errors(schema, settings).flatMap((error) =>
    error.keyword === 'required'
      ? error.params.requiredProperties.map((name) => `${name} is required${hint(schema, name)}`)
      : [`${error.instancePath.slice(1)} ${error.message}${hint(schema, error.instancePath.slice(1))}`],
  )
  if (faults.length > 0) throw new EnvironmentError(faults)
  return settings as Type.Static<Schema>
}

function hint(schema: Type.TObject, name: string): string {
  const description = (schema.properties[name] as { description?: string } | undefined)?.description
  return description ? ` (${description})` : ''
}

/** What both apps need to reach their servers. */
export const connections = {
  DATABASE_URL: Type.String({
    pattern: '^postgres(ql)?://',
    description: 'postgresql://user:password@host:5432/name',
  }),
  REDIS_URL: Type.String({ pattern: '^rediss?://', description: 'redis://host:6379' }),
  QUEUE_PREFIX: Type.String({
    default: '{automation}',
    pattern: '^[^:]+$',
    description: 'start of every Redis key; two services may share a Redis under two prefixes',
  }),
  LOG_LEVEL: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], { default: 'info' }),
  START_TIMEOUT: Type.Integer({
    default: 60,
    minimum: 1,
    maximum: 3_600,
    description: 'seconds that a process waits for its servers and the schema when it starts',
  }),
}

/** How a process lets itself be watched. What else begins with OTEL_ is read by OpenTelemetry itself. */
export const watching = {
  METRICS_PORT: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description: 'port of /metrics for Prometheus, 0 takes any free one; none where it is not set',
    }),
  ),
  OTEL_TRACES_EXPORTER: Type.Enum(['otlp', 'none'], {
    default: 'none',
    description: 'otlp sends traces to OTEL_EXPORTER_OTLP_ENDPOINT',
  }),
  OTEL_SDK_DISABLED: Type.Boolean({
    default: false,
    description: 'true switches tracing off, whatever else is set',
  }),
}

/** The same under the names that the code uses. */
export function watchingOf(environment: Type.Static<Type.TObject<typeof watching>>) {
  return {
    /** undefined: no metrics. */
    metricsPort: environment.METRICS_PORT,
    isTraced: environment.OTEL_TRACES_EXPORTER === 'otlp' && !environment.OTEL_SDK_DISABLED,
  }
}

/** Workers remove what is older; an API that tells what has become of everything must not miss it. */
export const retention = {
  RETENTION_DAYS: Type.Integer({
    default: 30,
    minimum: 0,
    maximum: 3_650,
    description:
      'days for which events that are done, and their executions, are kept where their workspace says nothing; 0 keeps them for ever',
  }),
}

/** How tokens are signed: by exactly one of the first two. */
export const tokenSettings = {
  JWT_SECRET: Type.Optional(
    Type.String({ minLength: 32, description: 'HS256 secret of 32 characters or more' }),
  ),
  JWKS_URL: Type.Optional(Type.String({ pattern: '^https?://', description: 'key set for RS256 and EdDSA' })),
  JWT_ISSUER: Type.String({ default: 'automation-rules', description: 'the iss that a token must carry' }),
  JWT_AUDIENCE: Type.String({ default: 'automation-rules', description: 'the aud that a token must carry' }),
}

/** What seals the signing secrets. */
export const sealing = {
  ENCRYPTION_KEY: Type.String({
    pattern: '^[A-Za-z0-9+/]{43}=$',
    description: '32 bytes in base64 that seal the signing secrets: openssl rand -base64 32',
  }),
}

/** The same under the names that the code uses. */
export function connectionsOf(environment: Type.Static<Type.TObject<typeof connections>>) {
  return {
    databaseUrl: environment.DATABASE_URL,
    redisUrl: environment.REDIS_URL,
    queuePrefix: environment.QUEUE_PREFIX,
    logLevel: environment.LOG_LEVEL,
    startTimeoutSeconds: environment.START_TIMEOUT,
  }
}

/** For a process's first line: reads its configuration, or tells what is wrong with it and ends. */
export function readOrExit<Config>(readConfig: () => Config): Config {
  try {
    return readConfig()
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error
    console.error(error.message)
    process.exit(1)
  }
}
