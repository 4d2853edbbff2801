import { readdir, readFile } from 'node:fs/promises'
import t from 'tap'

const directory = new URL('../../../../prisma/migrations/', import.meta.url)
/** Later migrations follow the rules of docs/operations.md. Earlier ones need a stop, as CHANGELOG.md says. */
const since = '20261122175000'
const rewrites =
  /\b(UPDATE|DELETE FROM|SET NOT NULL|DROP COLUMN|DROP TABLE|RENAME|ALTER COLUMN|SET DATA TYPE)\b/i

/** The faults of a migration's SQL. */
function findFaults(sql: string): string[] {
  const statements = sql
    .replaceAll(/--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
  const faults = statements
    .filter((statement) => rewrites.test(statement.replaceAll(/ON (UPDATE|DELETE)/g, '')))
    .map(() => 'changes what is there')
  const indexes = statements.filter((statement) => /^(CREATE|DROP) (UNIQUE )?INDEX/i.test(statement))
  if (indexes.some((statement) => !/INDEX CONCURRENTLY/i.test(statement)))
    faults.push('locks a table for an index')
  if (indexes.length > 0 && statements.length > 1) faults.push('an index is not alone')
  const [first, ...others] = statements
  // A foreign key locks the table that it names, too.
  const alters = statements.filter((statement) => /^ALTER TABLE|\bREFERENCES\b/i.test(statement))
  if (alters.length > 0 && first !== "SET lock_timeout = '3s'") faults.push('waits for a lock without an end')
  if (alters.length > 0 && others.length > 1) faults.push('has several statements that may wait')
  return faults
}

t.test('each new migration follows the rules of docs/operations.md', async (t) => {
  const names = (await readdir(directory)).filter((name) => /^\d{14}_/.test(name) && name >= since)
  t.ok(names.length >= 12)
  for (const name of names)
    t.strictSame(findFaults(await readFile(new URL(`${name}/migration.sql`, directory), 'utf8')), [], name)
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
  for (const [fault, sql] of Object.entries(faulty)) t.strictSame(findFaults(sql), [fault], sql)
})
