import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'

export interface Secrets {
  jwtSecret: string
  /** ENCRYPTION_KEY of API, worker and command line. */
  encryptionKey: string
  boardPassword: string
  /** Names the demo's queue in a Redis that others use as well. */
  queueId: string
}

/** Generates the secrets on the first run and keeps them for every later one. Only the owner can read the file. */
export async function keepSecrets(file: string): Promise<Secrets> {
  const text = await readFile(file, 'utf8').catch(() => '{}')
  const known = JSON.parse(text) as Partial<Secrets>
  const secrets = {
    jwtSecret: known.jwtSecret ?? randomBytes(32).toString('base64url'),
    encryptionKey: known.encryptionKey ?? randomBytes(32).toString('base64'),
    boardPassword: known.boardPassword ?? randomBytes(18).toString('base64url'),
    queueId: known.queueId ?? randomBytes(8).toString('hex'),
  }
  await writeFile(file, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 })
  return secrets
}
