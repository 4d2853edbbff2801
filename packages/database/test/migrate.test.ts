import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import t from 'tap'
import { diffSchemas } from '../src/diff-schemas.js'
import { newId, ruleSetIdOf } from '../src/ids.js'
import { migrate } from '../src/migrate.js'
import { listMigrations } from '../src/migrations.js'
import { createDatabase, describeTables, query } from './fixtures/scratch-databases.js'

t.test('the migrations result in exactly prisma/schema.prisma', async (t) => {
  const migrated = await createDatabase('migrated')
  const drawn = await createDatabase('drawn')
  const schema = await readFile(
    fileURLToPath(new URL('../../../../prisma/schema.prisma', import.meta.url)),
    'utf8',
  )
  await migrate(migrated)
  await query(drawn, await diffSchemas(drawn, undefined, schema))

  const tables = await describeTables(migrated)
  t.ok(tables.length > 50, 'there is something to compare')
  t.same(tables, await describeTables(drawn))
})

t.test(
  'many processes may migrate at the same time: each migration is applied once, and no process fails',
  async (t) => {
    const url = await createDatabase('crowded')
    const applied = await Promise.all([migrate(url), migrate(url), migrate(url)])
    t.same(applied.flat().sort(), await listMigrations())
    t.same(await migrate(url), [], 'and there is nothing left to do')
  },
)

t.test('a schema may have a name with capitals and blanks', async (t) => {
  const url = await createDatabase('quoted')
  await query(url, 'CREATE SCHEMA "My Rules"; ALTER DATABASE quoted SET search_path = "My Rules"')
  t.same(await migrate(url), await listMigrations())
})

t.test('timeouts that suit queries end no index that is built while others write', async (t) => {
  const url = await createDatabase('impatient')
  await migrate(url)
  await query(
    url,
    `UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name LIKE '%_index_rule_guards'`,
  )
  const reader = new pg.Client({ connectionString: url })
  await reader.connect()
  t.teardown(() => reader.end())
  for (const timeout of ['statement_timeout', 'lock_timeout'])
    await query(url, `ALTER DATABASE impatient SET ${timeout} = '500ms'`)
  // The index waits for all transactions that may see rows without it.
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await reader.query('SELECT count(*) FROM pg_class')
  const [applied] = await Promise.all([migrate(url), setTimeout(1_500).then(() => reader.query('COMMIT'))])
  t.match(applied, [/_index_rule_guards$/])
})

t.test('the checksum of each migration is stored as Prisma computes it', async (t) => {
  const url = await createDatabase('sums')
  const names = await migrate(url)
  t.ok(names.length > 0)
  const applied = 'SELECT migration_name AS name, checksum FROM _prisma_migrations ORDER BY started_at'
  const sums = names.map(async (name) => ({ name, checksum: hash('sha256', await readMigration(name)) }))
  t.strictSame(await query(url, applied), await Promise.all(sums))
})

t.test(
  'a migration that another program has half done names what to execute, and changes nothing',
  async (t) => {
    const url = await createDatabase('half_done')
    await query(url, 'CREATE TABLE others (id INT)')
    await t.rejects(migrate(url), /the database has tables of something else/)
    await query(url, 'DROP TABLE others')
    await migrate(url)
    await query(url, `UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name LIKE '%_init'`)
    await t.rejects(
      migrate(url),
      /_init was interrupted in another program[\s\S]*UPDATE _prisma_migrations[\s\S]*CREATE TABLE/,
    )
    await query(url, 'UPDATE _prisma_migrations SET finished_at = now() WHERE finished_at IS NULL')
    t.same(await migrate(url), [])
    await query(
      url,
      `UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name LIKE '%_rule_mode'`,
    )
    await query(url, 'ALTER TABLE rules DROP COLUMN mode')
    t.match(await migrate(url), [/_rule_mode$/], 'one of which nothing was done is done')
  },
)

t.test('a process that waits for another migration says so, and ends after a time', async (t) => {
  const url = await createDatabase('held')
  const other = new pg.Client({ connectionString: url })
  await other.connect()
  t.teardown(() => other.end())
  await other.query('SELECT pg_advisory_lock(72707369)')
  const { rows } = await other.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const holder = new RegExp(`another migration of this database \\(process ${rows[0]?.pid} of Postgres\\)`)
  const said: string[] = []
  const say = (sentence: string) => void said.push(sentence)
  await t.rejects(migrate(url, { say, waitMs: 1_000 }), holder)
  t.match(said, [holder])
  t.equal(said.length, 1)
  const ending = new AbortController()
  const waiting = migrate(url, { signal: ending.signal })
  ending.abort('SIGTERM')
  await t.rejects(waiting, 'it ends at once')
  const patient = migrate(url, { say })
  await other.query('SELECT pg_advisory_unlock(72707369)')
  t.same(await patient, await listMigrations())
})

t.test('a migration that waits too long for a lock changes nothing, and can be run again', async (t) => {
  const url = await createDatabase('locked')
  await migrate(url)
  const isOurs = `migration_name LIKE '%_rule_counters_bigint'`
  await query(url, `DELETE FROM _prisma_migrations WHERE ${isOurs}`)
  const backup = new pg.Client({ connectionString: url })
  await backup.connect()
  await backup.query('BEGIN')
  await backup.query('LOCK TABLE rule_counters IN ACCESS SHARE MODE')
  await t.rejects(migrate(url), /lock timeout/)
  await backup.end()
  t.match(await migrate(url), [/_rule_counters_bigint$/])
  t.same(await migrate(url), [])
})

t.test('an event from before rule sets still has the rules that were evaluated for it', async (t) => {
  const url = await createDatabase('carried')
  const names = await listMigrations()
  const place = names.findIndex((name) => name.endsWith('_rule_sets'))
  for (const name of names.slice(0, place)) await query(url, await readMigration(name))
  const [workspace, other] = [newId(), newId()]
  const [first = '', second = ''] = [newId(), newId()]
  const events = [
    { workspace, considered: [first, second] },
    { workspace, considered: [first, second] },
    { workspace: other, considered: [first, second] },
    { workspace, considered: [second] },
    { workspace, considered: [] },
    { workspace, considered: [first], addressee: first },
    { workspace, considered: [], addressee: second },
  ].map((event) => ({ id: newId(), ...event }))
  for (const { id, workspace, considered, addressee } of events) {
    const rule = addressee === undefined ? 'NULL' : `'${addressee}'`
    await query(
      url,
      `INSERT INTO events (id, workspace_id, type, data, rule_id, rule_ids)
       VALUES ('${id}', '${workspace}', 'LEAD_CREATED', '{}', ${rule}, '{${considered}}')`,
    )
  }
  await query(url, await readMigration(names[place] ?? ''))

  const [both, alone] = [ruleSetIdOf([first, second]), ruleSetIdOf([second])]
  t.same(await query(url, 'SELECT id, rule_set_id AS "ruleSetId" FROM events ORDER BY id'), [
    ...[both, both, both, alone, null, first, null].map((ruleSetId, index) => ({
      id: events[index]?.id,
      ruleSetId,
    })),
  ])
  const sets = await query(
    url,
    'SELECT workspace_id AS workspace, id, rule_ids AS rules FROM rule_sets ORDER BY 1, 2',
  )
  const expected = [
    { workspace, id: both, rules: [first, second] },
    { workspace, id: alone, rules: [second] },
    { workspace: other, id: both, rules: [first, second] },
  ]
  t.same(
    sets,
    expected.sort((left, right) => (left.workspace + left.id < right.workspace + right.id ? -1 : 1)),
  )
})

function readMigration(name: string): Promise<string> {
  return readFile(
    fileURLToPath(new URL(`../../../../prisma/migrations/${name}/migration.sql`, import.meta.url)),
    'utf8',
  )
}
