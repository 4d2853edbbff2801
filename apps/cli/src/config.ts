import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import {
  connections,
  consoleSettings,
  DatabaseEnvironment,
  readEnvironment,
  sealing,
  tokenSettings,
} from '@automation/process/settings'
import { Type } from 'typebox'
import { CommandError } from './command-error.js'

// Each command reads only the settings that it needs.

const RedisEnvironment = Type.Object({
  REDIS_URL: connections.REDIS_URL,
  QUEUE_PREFIX: connections.QUEUE_PREFIX,
})
const SealingEnvironment = Type.Object(sealing)
const TokenEnvironment = Type.Object(tokenSettings)
const ConsoleEnvironment = Type.Object(consoleSettings)

/**
 * @returns the URL of the database, and who named it
 * @throws CommandError if no database is set; EnvironmentError, like the functions below, if a setting is invalid
 */
export function readDatabaseUrl(): { databaseUrl: string; source: string } {
  const variables = readVariables()
  if (!variables.DATABASE_URL) throw new CommandError('Set DATABASE_URL, or run npm start first.')
  const { DATABASE_URL } = readEnvironment(DatabaseEnvironment, variables)
  return { databaseUrl: DATABASE_URL, source: readOwn().DATABASE_URL ? 'DATABASE_URL' : productFile }
}

/** A second database beside that of DATABASE_URL. @param what it is. @throws CommandError if it is not set */
export function readOtherDatabaseUrl(
  source: 'OLD_DATABASE_URL' | 'TARGET_DATABASE_URL',
  what: string,
): { databaseUrl: string; source: string } {
  const url = readOwn()[source]
  if (url === undefined) throw new CommandError(`Set ${source} to the URL of ${what}.`)
  return { databaseUrl: readEnvironment(DatabaseEnvironment, { DATABASE_URL: url }).DATABASE_URL, source }
}

/** Where Redis is, if it is set, and with which prefix its keys begin. */
export function readRedis(): { redisUrl: string; prefix: string } | undefined {
  const { REDIS_URL, QUEUE_PREFIX } = readVariables()
  if (!REDIS_URL) return undefined
  const read = readEnvironment(RedisEnvironment, { REDIS_URL, QUEUE_PREFIX })
  return { redisUrl: read.REDIS_URL, prefix: read.QUEUE_PREFIX }
}

/** What a program of Postgres needs beside the database: none of our keys. */
export function readToolEnvironment(): Record<string, string> {
  const names = ['PATH', 'HOME', 'TMPDIR', 'LANG']
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  ) as Record<string, string>
}

/** A file of certificates that Node trusts beside its own. */
export function readTrustedFile(): string | undefined {
  return readOwn().NODE_EXTRA_CA_CERTS
}

/** A secret is never an argument: those are in the list of processes and in the history of the shell. */
export function readWebhookSecret(): string | undefined {
  return readOwn().WEBHOOK_SECRET
}

/** The API that `npm run client` calls, and the identity of its user. */
export function readApiSettings(): { url?: string; token?: string; workspace?: string } {
  const { RULES_URL, RULES_TOKEN, RULES_WORKSPACE } = readOwn()
  return {
    ...(RULES_URL && { url: RULES_URL }),
    ...(RULES_TOKEN && { token: RULES_TOKEN }),
    ...(RULES_WORKSPACE && { workspace: RULES_WORKSPACE }),
  }
}

export function readEncryptionKey(): string {
  return readEnvironment(SealingEnvironment, readVariables()).ENCRYPTION_KEY
}

/** @throws CommandError if the product does not accept tokens that can be created here */
export function readTokenSettings(): { secret: string; issuer: string; audience: string } {
  const { JWT_SECRET, JWKS_URL, JWT_ISSUER, JWT_AUDIENCE } = readEnvironment(
    TokenEnvironment,
    readVariables(),
  )
  if (JWKS_URL)
    throw new CommandError(
      'JWKS_URL is set: tokens come from its identity provider and cannot be created here.',
    )
  if (!JWT_SECRET)
    throw new CommandError('Set JWT_SECRET to the value that the API uses, or run npm start first.')
  return { secret: JWT_SECRET, issuer: JWT_ISSUER, audience: JWT_AUDIENCE }
}

/** The settings that a link to the console needs. */
export function readConsoleSettings(): { url: string; secret: string } {
  const { CONSOLE_URL, CONSOLE_SECRET } = readEnvironment(ConsoleEnvironment, readVariables())
  return { url: CONSOLE_URL, secret: CONSOLE_SECRET }
}

/** Whether npm has written lines of its own to standard output: it does unless it is silent. */
export function isUnderNpm(): boolean {
  const { npm_lifecycle_event: script, npm_config_loglevel: level } = process.env
  return script !== undefined && level !== 'silent'
}

/** The name of the user's shell, such as `bash`. */
export function readShell(): string | undefined {
  return process.env.SHELL?.split('/').at(-1)
}

/** Written by `npm start`. It exists as long as that product serves. */
const productFile = '.data/product.env'

/**
 * The environment, completed with the settings of the product that `npm start` runs, unless the environment names another
 * database: a secret encrypted with the key of one product could not be decrypted in the other.
 */
function readVariables(): Record<string, string | undefined> {
  const product = parseEnv(readProductFile())
  const own = readOwn()
  const isElsewhere = own.DATABASE_URL !== undefined && own.DATABASE_URL !== product.DATABASE_URL
  return isElsewhere ? own : { ...product, ...own }
}

/** The environment without white space at the ends of values, and without empty ones. */
function readOwn(): Record<string, string | undefined> {
  const trimmed = Object.entries(process.env).map(([name, value]) => [name, value?.trim()] as const)
  return Object.fromEntries(trimmed.filter(([, value]) => value !== ''))
}

function readProductFile(): string {
  try {
    return readFileSync(productFile, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw new CommandError(`${productFile} cannot be read: ${(error as Error).message}.`, { cause: error })
  }
}
