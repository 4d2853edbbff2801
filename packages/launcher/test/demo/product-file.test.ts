import { readFile, stat, writeFile } from 'node:fs/promises'
import { parseEnv } from 'node:util'
import t from 'tap'
import { writeProductFile } from '../../src/demo/product-file.js'
import type { Product } from '../../src/product/product.js'

const settings = {
  DATABASE_URL: 'postgresql://user:p%40ss@127.0.0.1:5432/name?sslmode=disable',
  REDIS_URL: 'redis://127.0.0.1:6379',
  JWT_SECRET: 'plain',
  JWT_ISSUER: 'automation-rules',
  JWT_AUDIENCE: 'automation-rules',
  ENCRYPTION_KEY: Buffer.alloc(32, '?').toString('base64'),
}
const consoleSettings = {
  CONSOLE_SECRET: 'a secret of 32 characters or more',
  CONSOLE_URL: 'http://127.0.0.1:3003',
}

async function writeAndRead(file: string, env: Record<string, string>) {
  await writeProductFile(file, { env } as Product, consoleSettings)
  return parseEnv(await readFile(file, 'utf8'))
}

t.test(
  'the command line reads its settings exactly as they were written, even if a secret has special characters',
  async (t) => {
    const file = `${t.testdir()}/product.env`
    for (const JWT_SECRET of ['plain', 'a # b', ' "double" # ', "it's # `all`", '$HOME \\n # ']) {
      const wanted = { ...settings, JWT_SECRET }
      t.same(await writeAndRead(file, { ...wanted, SMTP_URL: 'nobody asks for it' }), {
        ...wanted,
        ...consoleSettings,
      })
    }
  },
)

t.test('only the owner can read the file, even if it replaces an older one', async (t) => {
  const file = `${t.testdir()}/product.env`
  await writeFile(file, '', { mode: 0o644 })
  await writeAndRead(file, settings)
  t.equal((await stat(file)).mode & 0o777, 0o600)
})
