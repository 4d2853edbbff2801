import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openDatabase } from '@automation/database'
import t from 'tap'
import { mayRunSql } from '../src/may-run.js'

const source = new URL('../../src/', import.meta.url).pathname
const files = (await readdir(source, { recursive: true })).filter((name) => name.endsWith('.ts')).sort()
const texts = new Map<string, string>()
for (const name of files) texts.set(name, await readFile(join(source, name), 'utf8'))

/** The constants that hold a whole statement: name and text. */
const statements = [...texts.values()].flatMap((text) =>
  [...text.matchAll(/^const (\w+Sql) = `([^`]*)`$/gm)].map(([, name = '', sql = '']) => ({ name, sql })),
)

t.test('each statement can be pasted into psql: its text is whole', async (t) => {
  const database = openDatabase(process.env.DATABASE_URL ?? '', 2)
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

t.test('what several statements do stands in each of them, word for word', (t) => {
  const recorded = ['finish-events', 'record-steps']
  const all = [...recorded, 'finish-successes']
  const parts = [
    {
      of: ['finish-events', 'finish-successes'],
      begins: 'finished events',
      ends: 'finished events',
      least: 300,
    },
    { of: recorded, begins: 'stopped executions', ends: 'the stopped executions', least: 800 },
    { of: recorded, begins: 'effects of the', ends: 'the effects', least: 3_000 },
    { of: all, begins: 'tasks of the', ends: 'the tasks', least: 500 },
    { of: all, begins: 'locked counters', ends: 'the locked counters', least: 100 },
  ]
  for (const { of, begins, ends, least } of parts) {
    const part = new RegExp(`-- ${begins}[^\\n]*\\n(.*)-- end of ${ends}`, 's')
    const [first = '', ...others] = of.map((name) => part.exec(texts.get(`outcomes/${name}.ts`) ?? '')?.[1])
    t.ok(first.length > least, begins)
    for (const other of others) t.equal(other, first, begins)
  }
  t.end()
})

t.test('statements that are whole texts have the predicate of may-run.ts', (t) => {
  const predicates = {
    'outcomes/finish-events.ts': mayRunSql('rules', 'pausing.is_by_hand'),
    'outcomes/record-steps.ts': mayRunSql('rules', 'pausing.is_by_hand'),
    'unfinished/claim-executions.ts': mayRunSql('r', 'c.id = c.event_id'),
  }
  for (const [name, predicate] of Object.entries(predicates)) t.ok(texts.get(name)?.includes(predicate), name)
  t.end()
})
