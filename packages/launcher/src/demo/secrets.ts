import { randomBytes } from 'node:crypto'
import { chmod } from 'node:fs/promises'
import { readIfPresent, writePrivateFile } from '../private-file.js'

export interface Secrets {
  jwtSecret: string
  /** ENCRYPTION_KEY of API, worker and command line. */
  encryptionKey: string
  boardPassword: string
  consoleSecret: string
  /** Names the demo's queue in a Redis that others use as well. */
  queueId: string
}

/**
 * Generates the secrets on the first run and keeps them for every later one. The file is written only if one is missing:
 * without `encryptionKey` nobody can read the signing secrets in the database.
 */
export async function keepSecrets(file: string): Promise<Secrets> {
  const known: Partial<Secrets> = JSON.parse((await readIfPresent(file)) ?? '{}')
  const secrets: Secrets = {
    jwtSecret: randomBytes(32).toString('base64url'),
    encryptionKey: randomBytes(32).toString('base64'),
    boardPassword: randomBytes(18).toString('base64url'),
    consoleSecret: randomBytes(32).toString('base64url'),
    queueId: randomBytes(8).toString('hex'),
    ...known,
  }
  const isComplete = Object.keys(secrets).every((name) => name in known)
  if (isComplete) await chmod(file, 0o600)
  else await writePrivateFile(file, `${JSON.stringify(secrets, null, 2)}\n`)
  return secrets
}
