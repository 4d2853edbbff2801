import { readdir, readFile } from 'node:fs/promises'
import t from 'tap'
import { findMigrationFaults } from '../src/find-migration-faults.js'
import { faulty, harmless } from './fixtures/later-statements.js'

const directory = new URL('../../../../prisma/migrations/', import.meta.url)

t.test('each migration after the first follows the rules of docs/operate/upgrade.md', async (t) => {
  const names = (await readdir(directory)).filter((name) => /^\d{14}_/.test(name)).sort()
  const scripts = await Promise.all(
    names.map((name) => readFile(new URL(`${name}/migration.sql`, directory), 'utf8')),
  )
  t.match(names[0], /_first$/, 'the first release has no version before it to live beside')
  for (const [index, sql] of scripts.entries())
    if (index > 0)
      t.strictSame(await findMigrationFaults(sql, scripts.slice(0, index)), [], `${names[index]}`)
})

t.test('what holds up nobody, and breaks nothing, passes', async (t) => {
  for (const sql of harmless) t.strictSame(await findMigrationFaults(sql), [], sql)
})

t.test('each statement that holds up or breaks what runs beside it is noticed', async (t) => {
  for (const [sql, fault] of Object.entries(faulty)) {
    const faults = await findMigrationFaults(sql.startsWith('SET') ? sql : `SET lock_timeout = '1s'; ${sql}`)
    t.equal(faults.length, 1, `${sql}: ${faults}`)
    t.match(faults[0], fault, sql)
  }
})

t.test('a statement that waits for a lock has an end, and nothing beside it', async (t) => {
  const [column, other] = ['ALTER TABLE a ADD COLUMN b INT;', 'ALTER TABLE c ADD COLUMN d INT;']
  t.match(await findMigrationFaults(column), [/waits for a lock without an end/])
  t.match(await findMigrationFaults(`SET lock_timeout = '30s'; ${column}`), [
    /not known to leave/,
    /without an end/,
  ])
  t.match(await findMigrationFaults(`${column} SET lock_timeout = '1s'`), [/without an end/])
  const two = await findMigrationFaults(`SET lock_timeout = '1s'; ${column} ${other}`)
  t.match(two, [/^ALTER TABLE a .* not the only statement/, /^ALTER TABLE c .* not the only statement/])
  t.match(await findMigrationFaults('CREATE TABLE a (b INT REFERENCES c(d));'), [/without an end/])
})

t.test('an index that is built or dropped beside writes is alone', async (t) => {
  const build = 'CREATE INDEX CONCURRENTLY i ON a (b);'
  t.match(await findMigrationFaults(`${build} DROP INDEX CONCURRENTLY j;`), [/is not alone/, /is not alone/])
  t.match(await findMigrationFaults(`CREATE TABLE c (d INT); ${build}`), [/is not alone/])
})

t.test('a table counts as new only if it cannot have been there', async (t) => {
  const build = 'CREATE INDEX i ON a (b);'
  t.match(await findMigrationFaults(`CREATE TABLE IF NOT EXISTS a (b INT); ${build}`), [/while it is built/])
  t.match(await findMigrationFaults(`CREATE TABLE history.a (b INT); ${build}`), [/while it is built/])
  t.strictSame(await findMigrationFaults(`CREATE TABLE public.a (b INT); ${build}`), [])
})

t.test('a part of a table that is there is not made beside who uses it', async (t) => {
  const leaf = 'CREATE TABLE a_1 PARTITION OF a DEFAULT;'
  t.match(await findMigrationFaults(`SET lock_timeout = '1s'; ${leaf}`), [/becomes a part of/])
  const own = `CREATE TABLE a (b INT) PARTITION BY RANGE (b); ${leaf}`
  t.strictSame(await findMigrationFaults(own), [])
})

t.test('NOT NULL is set where an earlier migration has validated a check of that column', async (t) => {
  const check = "SET lock_timeout = '1s'; ALTER TABLE a ADD CONSTRAINT a_b CHECK (b IS NOT NULL) NOT VALID;"
  const validated = 'ALTER TABLE a VALIDATE CONSTRAINT a_b;'
  const set = "SET lock_timeout = '1s'; ALTER TABLE a ALTER COLUMN b SET NOT NULL;"
  t.strictSame(await findMigrationFaults(set, [check, validated]), [])
  t.match(await findMigrationFaults(set, [check]), [/SET NOT NULL: reads all rows/])
  t.match(await findMigrationFaults(set.replace('TABLE a', 'TABLE c'), [check, validated]), [
    /reads all rows/,
  ])
  t.match(await findMigrationFaults(set.replace('COLUMN b', 'COLUMN d'), [check, validated]), [
    /reads all rows/,
  ])
  const drop = "SET lock_timeout = '1s'; ALTER TABLE a DROP CONSTRAINT a_b;"
  t.strictSame(await findMigrationFaults(drop, [check, validated]), [], 'the check may go then')
  t.match(await findMigrationFaults(set, [check, validated, drop]), [/reads all rows/], 'and not before')
  const both = set.replace(';$', '').replace('SET NOT NULL', 'SET NOT NULL, DROP CONSTRAINT a_b')
  t.match(await findMigrationFaults(both, [check, validated]), [/reads all rows/], 'nor together')
})

t.test('a unique index that the previous version may name is not dropped', async (t) => {
  const earlier = ['CREATE UNIQUE INDEX "i" ON "a"("b");']
  t.match(await findMigrationFaults('DROP INDEX CONCURRENTLY "i";', earlier), [
    /previous version.*ON CONFLICT/,
  ])
  t.strictSame(await findMigrationFaults('DROP INDEX CONCURRENTLY "j";', earlier), [])
})

t.test('a comment with a reason exempts its statement, and no other', async (t) => {
  const drop =
    "SET lock_timeout = '1s';\n\n-- exempt: no version since 0.3.0 reads it\nALTER TABLE a DROP COLUMN b;"
  t.strictSame(await findMigrationFaults(drop), [])
  t.match(await findMigrationFaults(drop.replace(/exempt:.*/, 'exempt:')), [/removes/, /has no reason/])
  t.match(await findMigrationFaults(drop.replace('exempt', 'but')), [/removes/])
  t.match(await findMigrationFaults(`${drop}\nTRUNCATE c;`), [/^TRUNCATE c: changes rows/])
  t.match(await findMigrationFaults(drop.replace('DROP COLUMN b', 'ADD COLUMN b INT')), [
    /needs no exemption/,
  ])
  t.match(
    await findMigrationFaults(`-- exempt: é is two bytes\nTRUNCATE a; TRUNCATE b;`),
    [/^TRUNCATE b/],
    'also after letters of several bytes',
  )
})

t.test('what is no SQL is refused with the message of Postgres', async (t) => {
  await t.rejects(findMigrationFaults('CREATE TABEL a (b INT)'), /syntax error at or near "TABEL"/)
})
