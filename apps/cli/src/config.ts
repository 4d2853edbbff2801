import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { connections, readEnvironment, sealing, tokenSettings } from '@automation/environment'
import { Type } from 'typebox'
import { CommandFault } from './command-fault.js'

// Each command asks for the settings that it needs, and for no others.

const DatabaseEnvironment = Type.Object({ DATABASE_URL: connections.DATABASE_URL })
const SealingEnvironment = Type.Object(sealing)
const TokenEnvironment = Type.Object(tokenSettings)

/** @throws CommandFault where no database is named; EnvironmentError, as below, where a setting is wrong */
export function readDatabaseUrl(): string {
  const variables = readVariables()
  if (!variables.DATABASE_URL) throw new CommandFault('Set DATABASE_URL, or run npm start first.')
  const { DATABASE_URL } = readEnvironment(DatabaseEnvironment, variables)
  if (!URL.canParse(DATABASE_URL)) throw new CommandFault('DATABASE_URL is not a URL.')
  return DATABASE_URL
}

export function readEncryptionKey(): string {
  return readEnvironment(SealingEnvironment, readVariables()).ENCRYPTION_KEY
}

/** @throws CommandFault where the product takes no tokens that could be minted here */
export function readTokenSettings(): { secret: string; issuer: string; audience: string } {
  const { JWT_SECRET, JWKS_URL, JWT_ISSUER, JWT_AUDIENCE } = readEnvironment(
    TokenEnvironment,
    readVariables(),
  )
  if (JWKS_URL)
    throw new CommandFault(
      'JWKS_URL is set: tokens come from the identity provider behind it, and none can be minted here.',
    )
  if (!JWT_SECRET) throw new CommandFault('Set JWT_SECRET to the one of the API, or run npm start first.')
  return { secret: JWT_SECRET, issuer: JWT_ISSUER, audience: JWT_AUDIENCE }
}

/** Written by `npm start`, and there as long as its product serves. */
const productFile = '.data/product.env'

/**
 * The environment; what is missing in it comes from the product that `npm start` runs, unless it names another
 * database: a secret sealed with the one's key could not be opened in the other.
 */
function readVariables(): Record<string, string | undefined> {
  const product = parseEnv(readProductFile())
  const own = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''))
  const isElsewhere = own.DATABASE_URL !== undefined && own.DATABASE_URL !== product.DATABASE_URL
  return isElsewhere ? own : { ...product, ...own }
}

function readProductFile(): string {
  try {
    return readFileSync(productFile, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw new CommandFault(`${productFile} cannot be read: ${(error as Error).message}.`, { cause: error })
  }
}
