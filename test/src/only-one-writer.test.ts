import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { listSources, root } from './fixtures/list-sources.js'

const statement =
  /\$queryRaw|\$executeRaw|Prisma\.sql|\b(database|statements|transaction)\s*\.run\b|::jsonb?\b/
const json = /\bJSON\.stringify\(/

/** What these write is the body of a response. */
const exceptions = ['apps/api/src/routes/rules/definition-texts.ts', 'apps/api/src/routes/rules/summaries.ts']

t.test(
  'all JSON that Postgres gets is written by writeJson, which replaces what Postgres refuses',
  async (t) => {
    const found = { statements: 0, others: [] as string[] }
    for (const name of await listSources()) {
      const text = await readFile(join(root, name), 'utf8')
      if (!statement.test(text)) continue
      found.statements += 1
      if (json.test(text) && !exceptions.includes(name)) found.others.push(name)
    }
    t.ok(found.statements > 100, `the pattern finds ${found.statements} files with statements`)
    t.strictSame(found.others, [])
  },
)
