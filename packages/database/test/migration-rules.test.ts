import { readdir, readFile } from 'node:fs/promises'
import t from 'tap'
import { findMigrationFaults } from './fixtures/find-migration-faults.js'

const directory = new URL('../../../../prisma/migrations/', import.meta.url)
/** Later migrations follow the rules of docs/operations.md. Earlier ones need a stop, as CHANGELOG.md says. */
const since = '20261122175000'
t.test('each new migration follows the rules of docs/operations.md', async (t) => {
  const names = (await readdir(directory)).filter((name) => /^\d{14}_/.test(name) && name >= since)
  t.ok(names.length >= 12)
  for (const name of names)
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
