import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openPatiently } from '@automation/database'
import t from 'tap'
import { listSources, root } from './fixtures/list-sources.js'

const files = (await listSources()).filter((name) => /^packages\/(ledger|history)\//.test(name))
const texts = await Promise.all(files.map((name) => readFile(join(root, name), 'utf8')))

/** The parts that several statements have: name and text. */
const parts = new Map(
  texts.flatMap((text) =>
    [...text.matchAll(/^export const (\w+Sql) = `([^`]*)`$/gm)].map(([, name, sql]) => [name, sql] as const),
  ),
)

/** The constants that hold a statement: name and text. */
const statements = texts.flatMap((text) =>
  [...text.matchAll(/^const (\w+Sql) = `([^`]*)`$/gm)].map(([, name = '', sql = '']) => ({
    name,
    sql: withParts(sql),
  })),
)

function withParts(sql: string): string {
  const whole = sql.replace(/\$\{(\w+)\}/g, (place, name) => parts.get(name) ?? place)
  return whole === sql ? sql : withParts(whole)
}

t.test('each statement is a text with the parts that it names, and nothing else', async (t) => {
  const database = openPatiently(process.env.DATABASE_URL ?? '', 2)
  t.teardown(() => database.close())
  t.ok(statements.length >= 14, `${statements.length} statements`)
  for (const { name, sql } of statements) {
    t.notMatch(sql, /\$\{/, `${name} contains no other text`)
    await t.resolves(
      database.system.$transaction(async (transaction) => {
        await transaction.$executeRawUnsafe(`PREPARE pasted AS ${sql}`)
        await transaction.$executeRawUnsafe('DEALLOCATE pasted')
      }),
      `Postgres prepares ${name}`,
    )
  }
})
