import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'

export interface Secrets {
  jwtSecret: string
}

/** Made at random on the first run, then the same on every later one. Readable by its owner alone. */
export async function keepSecrets(file: string): Promise<Secrets> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text !== undefined) return JSON.parse(text) as Secrets
  const secrets = { jwtSecret: randomBytes(32).toString('base64url') }
  await writeFile(file, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 })
  return secrets
}
