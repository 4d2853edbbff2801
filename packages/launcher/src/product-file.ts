import { rm, writeFile } from 'node:fs/promises'
import type { Product } from './product.js'

const names = ['DATABASE_URL', 'REDIS_URL', 'JWT_SECRET', 'JWT_ISSUER', 'JWT_AUDIENCE', 'ENCRYPTION_KEY']

/** Tells the command line how to reach the product: `KEY=value` lines, readable by their owner alone. */
export async function writeProductFile(file: string, { env }: Product): Promise<void> {
  // The mode is set only on a file that is new.
  await rm(file, { force: true })
  const lines = names.map((name) => `${name}=${quote(env[name] ?? '')}\n`)
  await writeFile(file, lines.join(''), { mode: 0o600 })
}

/** Only what needs it: a JWT_SECRET of the user’s own may hold anything, and # would begin a comment. */
function quote(value: string): string {
  if (/^[\w:/?@%&=+.~-]*$/.test(value)) return value
  const mark = ["'", '`', '"'].find((mark) => !value.includes(mark)) ?? "'"
  return `${mark}${value}${mark}`
}
