import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { buildApp } from './app.js'
import { readConfig } from './config.js'

// npm run openapi: writes docs/openapi.json from the routes' schemas; with --check it only checks that the file is current.
const path = fileURLToPath(new URL('../../../../docs/openapi.json', import.meta.url))

// The document needs neither server: the addresses only have to look like some.
const app = await buildApp(
  readConfig({
    DATABASE_URL: 'postgresql://127.0.0.1:1/none',
    REDIS_URL: 'redis://127.0.0.1:1',
    JWT_SECRET: 'only-for-this-document-0123456789',
    ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
    LOG_LEVEL: 'error',
  }),
)
await app.ready()
const document = `${JSON.stringify(app.swagger(), null, 2)}\n`
await app.close()

if (process.argv.includes('--check')) {
  if ((await readFile(path, 'utf8').catch(() => '')) !== document) {
    console.error('docs/openapi.json is out of date: run npm run openapi and commit it')
    process.exitCode = 1
  }
} else {
  await writeFile(path, document)
}
