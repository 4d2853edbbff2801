import { readdir, readFile } from 'node:fs/promises'
import t from 'tap'
import { findMigrationFaults } from './fixtures/find-migration-faults.js'

const directory = new URL('../../../../prisma/migrations/', import.meta.url)

t.test('each migration after the first follows the rules of docs/operate/upgrade.md', async (t) => {
  const [first, ...later] = (await readdir(directory)).filter((name) => /^\d{14}_/.test(name)).sort()
  t.match(first, /_first$/, 'the first release has no version before it to live beside')
  for (const name of later)
    t.strictSame(
      findMigrationFaults(await readFile(new URL(`${name}/migration.sql`, directory), 'utf8')),
      [],
      name,
    )
})

t.test('a migration that breaks a rule is noticed', async (t) => {
  const faulty = {
    'changes what is there': "SET lock_timeout = '3s';\nALTER TABLE a ALTER COLUMN b SET NOT NULL;",
    'locks a table for an index': 'CREATE INDEX i ON a(b);',
    'an index is not alone': 'CREATE INDEX CONCURRENTLY i ON a(b); CREATE INDEX CONCURRENTLY j ON a(c);',
    'waits for a lock without an end': 'CREATE TABLE a (b INT REFERENCES c(d));',
    'has several statements that may wait':
      "SET lock_timeout = '3s'; ALTER TABLE a ADD COLUMN b INT; ALTER TABLE c ADD COLUMN d INT;",
  }
  for (const [fault, sql] of Object.entries(faulty)) t.strictSame(findMigrationFaults(sql), [fault], sql)
})
