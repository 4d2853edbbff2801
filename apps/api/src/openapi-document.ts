import { readFile, writeFile } from 'node:fs/promises'
import { buildApp } from './app.js'
import { readConfig } from './config.js'
import { docsDirectory } from './docs-directory.js'
import { limitsOf } from './limits.js'
import { writeRuleFileSchema } from './openapi/rule-file-schema.js'
import { writeAccessTable } from './openapi/write-access-table.js'
import { listVocabulary } from './vocabulary/vocabulary.js'
import { fillPage, writeSettingTables, writeTables } from './vocabulary/write-tables.js'

// npm run openapi: writes docs/openapi.json from the routes' schemas, docs/rules.schema.json from the shape of files of rules, and the tables
// of docs/reference and docs/guides/incoming-webhooks.md; with --check it only checks that the files are current.

// The document needs neither server: the addresses only have to look like some.
const config = readConfig({
  DATABASE_URL: 'postgresql://127.0.0.1:1/none',
  REDIS_URL: 'redis://127.0.0.1:1',
  JWT_SECRET: 'only-for-this-document-0123456789',
  ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
  LOG_LEVEL: 'error',
})
const app = await buildApp(config)
await app.ready()
const document = app.swagger()
await put('openapi.json', () => `${JSON.stringify(document, null, 2)}\n`)
await app.close()
await put('rules.schema.json', () => `${JSON.stringify(writeRuleFileSchema(), null, 2)}\n`)
const tables = writeTables(listVocabulary({ ...config, ...limitsOf(config) }))
for (const [name, parts] of Object.entries(tables)) await put(name, (page) => fillPage(page, parts))
await put('reference/authentication.md', (page) => fillPage(page, writeAccessTable(document)))
await put('guides/incoming-webhooks.md', (page) => fillPage(page, writeSettingTables()))

async function put(name: string, write: (present: string) => string): Promise<void> {
  const path = new URL(name, docsDirectory)
  const present = await readFile(path, 'utf8').catch(() => '')
  const document = write(present)
  if (!process.argv.includes('--check')) return writeFile(path, document)
  if (present === document) return
  console.error(`docs/${name} is out of date: run npm run openapi and commit it`)
  process.exitCode = 1
}
