import { randomBytes } from 'node:crypto'
import { chmod } from 'node:fs/promises'
import { CannotStart } from '../cannot-start.js'
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
 *
 * @throws CannotStart if the file is damaged
 */
export async function keepSecrets(file: string): Promise<Secrets> {
  const text = await readIfPresent(file)
  const known = text === undefined ? {} : parse(text, file)
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

function parse(text: string, file: string): Partial<Secrets> {
  try {
    return JSON.parse(text) as Partial<Secrets>
  } catch (error) {
    throw new CannotStart(
      `${file} is damaged: restore it from a backup. Without it the signing secrets in the database cannot be read, and ` +
        'npm start would make new ones: delete the file only if you do not need them',
      { cause: error },
    )
  }
}
