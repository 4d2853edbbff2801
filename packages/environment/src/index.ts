import { Type } from 'typebox'
import { Convert, Default, Errors } from 'typebox/value'

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
