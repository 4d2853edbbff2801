import { writePrivateFile } from '../private-file.js'
import type { Product } from '../product/product.js'

const names = ['DATABASE_URL', 'REDIS_URL', 'JWT_SECRET', 'JWT_ISSUER', 'JWT_AUDIENCE', 'ENCRYPTION_KEY']
const consoleNames = ['CONSOLE_SECRET', 'CONSOLE_URL']

/** Writes the settings that the command line needs to reach the product: `KEY=value` lines, readable by the owner only. */
/** @param consoleEnv the settings with which the console starts */
export async function writeProductFile(
  file: string,
  product: Product,
  consoleEnv: Record<string, string>,
): Promise<void> {
  const env = { ...product.env, ...consoleEnv }
  const lines = [...names, ...consoleNames].map((name) => `${name}=${quote(env[name] ?? '')}\n`)
  await writePrivateFile(file, lines.join(''))
}

/** Quotes only where needed: a user's own JWT_SECRET may contain anything, and # would begin a comment. */
function quote(value: string): string {
  if (/^[\w:/?@%&=+.~-]*$/.test(value)) return value
  const mark = ["'", '`', '"'].find((mark) => !value.includes(mark)) ?? "'"
  return `${mark}${value}${mark}`
}
