import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import t from 'tap'
import { diffSchemas } from '../src/diff-schemas.js'
import { turnLeaves } from '../src/leaves/turn-leaves.js'
import { migrate } from '../src/migrate.js'
import { listMigrations } from '../src/migrations.js'
import { aColumn, addMigrations, anIndex, later, ours } from './fixtures/later-migrations.js'
import { createDatabase, describeTables, query } from './fixtures/scratch-databases.js'

const directory = await addMigrations(later)

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
  const reader = new pg.Client({ connectionString: url })
  await reader.connect()
  t.teardown(() => reader.end())
  for (const timeout of ['statement_timeout', 'lock_timeout'])
    await query(url, `ALTER DATABASE impatient SET ${timeout} = '2s'`)
  // The index waits for all transactions that may see rows without it.
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await reader.query('SELECT count(*) FROM pg_class')
  const [applied] = await Promise.all([
    migrate(url, { directory: await addMigrations({ [anIndex]: later[anIndex] }) }),
    setTimeout(4_000).then(() => reader.query('COMMIT')),
  ])
  t.same(applied, [anIndex])
})

t.test('a unique index that rows refuse leaves nothing, and is built by the next run', async (t) => {
  const url = await createDatabase('doubles')
  await migrate(url)
  const name = '20991231000002_unique_name'
  const build = 'CREATE UNIQUE INDEX CONCURRENTLY workspaces_name_key ON workspaces (name);'
  const directory = await addMigrations({ [name]: build })
  const isThere = () =>
    query(url, `SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('workspaces_name_key')`)
  await query(
    url,
    `INSERT INTO workspaces (id, name) SELECT gen_random_uuid(), 'twice' FROM generate_series(1, 2)`,
  )
  await t.rejects(
    migrate(url, { directory }),
    /_unique_name has changed nothing: .*could not create unique index/,
  )
  t.same(await isThere(), [], 'an invalid one would refuse new rows')
  await t.rejects(query(url, build), 'as one whose process was killed leaves it')
  t.same(await isThere(), [{ indisvalid: false }])
  await query(url, `UPDATE workspaces SET name = id::text`)
  t.same(await migrate(url, { directory }), [name])
  t.same(await isThere(), [{ indisvalid: true }])
})

t.test(
  'an index of a leaf is built again after it was interrupted, and dropped, in the schema of the leaf',
  async (t) => {
    const url = await createDatabase('of_leaf')
    await migrate(url)
    const build = 'CREATE INDEX CONCURRENTLY events_high_type ON history.events_high (type);'
    const isThere = () => query(url, `SELECT FROM pg_indexes WHERE indexname = 'events_high_type'`)
    await query(url, build)
    const [made, gone] = ['20991231000002_of_leaf', '20991231000003_not_of_leaf']
    t.same(await migrate(url, { directory: await addMigrations({ [made]: build }) }), [made])
    t.same((await isThere()).length, 1)
    const drop = 'DROP INDEX CONCURRENTLY history.events_high_type;'
    t.same(await migrate(url, { directory: await addMigrations({ [made]: build, [gone]: drop }) }), [gone])
    t.same(await isThere(), [])
  },
)

t.test(
  'an index of a partitioned table is built in each leaf, whichever there are, and dropped',
  async (t) => {
    const url = await createDatabase('of_leaves')
    await migrate(url)
    const monday = Date.parse('2026-06-01T00:00:00Z')
    await turnLeaves(url, { events: 30, tasks: 400 }, { now: monday })
    const [made, gone] = ['20991231000002_of_leaves', '20991231000003_not_of_leaves']
    const build =
      '-- CreateIndex\nCREATE INDEX CONCURRENTLY "events_type" ON "events"("type") WHERE parked;\n'
    const drop = 'DROP INDEX CONCURRENTLY events_type;'
    const indexes = () =>
      query(
        url,
        `SELECT relname AS name, indisvalid AS valid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
       WHERE relname LIKE 'events_type%' ORDER BY indexrelid::regclass::text`,
      )
    const holder = new pg.Client({ connectionString: url })
    await holder.connect()
    t.teardown(() => holder.end())
    await holder.query('BEGIN; LOCK TABLE ONLY events IN ROW EXCLUSIVE MODE')
    const directory = await addMigrations({ [made]: build })
    const said: string[] = []
    const say = (sentence: string) => {
      said.push(sentence)
      if (/lock timeout/.test(sentence)) void holder.query('COMMIT')
    }
    t.same(await migrate(url, { directory, say }), [made])
    t.match(said, [/lock timeout.*tries again/], 'who writes is not held up for long')
    const leaves = ['20260105', 'high', 'low']
    t.same(await indexes(), [
      { name: 'events_type', valid: true },
      ...leaves.map((leaf) => ({ name: `events_type_${leaf}`, valid: true })),
    ])
    t.same(await migrate(url, { directory: await addMigrations({ [made]: build, [gone]: drop }) }), [gone])
    t.same(await indexes(), [])
  },
)

t.test('while an index is built leaf by leaf, no other leaf comes in', async (t) => {
  const url = await createDatabase('same_leaves')
  await migrate(url)
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('BEGIN; LOCK TABLE history.events_high IN ROW EXCLUSIVE MODE')
  const build = 'CREATE INDEX CONCURRENTLY "events_type" ON "events"("type");\n'
  const directory = await addMigrations({ '20991231000002_same_leaves': build })
  const migrated = migrate(url, { directory })
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'`
  while ((await query(url, waiting)).length === 0) await setTimeout(20)
  const { made, gone } = await turnLeaves(url, { events: 30, tasks: 400 })
  t.strictSame([...made, ...gone], [])
  await holder.query('COMMIT')
  t.equal((await migrated).length, 1)
  t.not((await turnLeaves(url, { events: 30, tasks: 400 })).made.length, 0)
})

t.test('an index is dropped beside writes, also if it was dropped before its row was written', async (t) => {
  const drop = '20991231000002_drop_label'
  const directory = await addMigrations({
    ...later,
    [drop]: 'DROP INDEX CONCURRENTLY rules_workspace_id_name_idx;\n',
  })
  for (const before of ['SELECT', 'DROP INDEX rules_workspace_id_name_idx']) {
    const url = await createDatabase(before === 'SELECT' ? 'drops' : 'dropped')
    await migrate(url, { directory: await addMigrations(later) })
    await query(url, before)
    t.same(await migrate(url, { directory }), [drop])
    t.same(await query(url, `SELECT FROM pg_indexes WHERE indexname = 'rules_workspace_id_name_idx'`), [])
  }
})

t.test('a version that is older than the database changes nothing, and says so', async (t) => {
  const url = await createDatabase('newer')
  await migrate(url, { directory })
  const said: string[] = []
  t.same(await migrate(url, { say: (sentence) => void said.push(sentence) }), [])
  t.same(said, ['The database is newer than this version: it has 2 migrations more.'])
})

t.test('the checksum of each migration is stored as Prisma computes it', async (t) => {
  const url = await createDatabase('sums')
  const names = await migrate(url)
  t.ok(names.length > 0)
  const applied = 'SELECT migration_name AS name, checksum FROM _prisma_migrations ORDER BY started_at'
  const sums = names.map(async (name) => ({
    name,
    checksum: hash('sha256', await readFile(`${ours}/${name}/migration.sql`)),
  }))
  t.strictSame(await query(url, applied), await Promise.all(sums))
})

t.test(
  'a migration that another program has half done names what to execute, and changes nothing',
  async (t) => {
    const url = await createDatabase('half_done')
    await migrate(url)
    await query(url, 'UPDATE _prisma_migrations SET finished_at = NULL')
    await t.rejects(
      migrate(url),
      /_first was interrupted in another program[\s\S]*UPDATE _prisma_migrations[\s\S]*CREATE TABLE/,
    )
    await query(url, 'UPDATE _prisma_migrations SET finished_at = now()')
    t.same(await migrate(url), [])
    await query(
      url,
      `INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ('begun', '', '${aColumn}')`,
    )
    t.same(await migrate(url, { directory }), Object.keys(later), 'one of which nothing was done is done')
  },
)

t.test('a database with other tables is refused, and nothing is changed in it', async (t) => {
  const refusal = {
    name: 'OtherTables',
    message: /^the database has tables of a development version .*: create an empty database/,
  }
  const others = {
    'tables of another program': 'CREATE TABLE others (id INT)',
    'a first migration of another name': `UPDATE _prisma_migrations SET migration_name = '20261121000000_init'`,
    'a first migration that was edited since': `UPDATE _prisma_migrations SET checksum = 'of another script'`,
  }
  for (const [what, sql] of Object.entries(others)) {
    const url = await createDatabase(what.replaceAll(' ', '_'))
    if (sql.startsWith('UPDATE')) await migrate(url)
    await query(url, sql)
    const before = await describeTables(url)
    await t.rejects(migrate(url), refusal, what)
    t.same(await describeTables(url), before, what)
  }
})

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

t.test('a migration that waits too long for a lock changes nothing, and tries again', async (t) => {
  const url = await createDatabase('locked')
  await migrate(url)
  const backup = new pg.Client({ connectionString: url })
  await backup.connect()
  await backup.query('BEGIN')
  await backup.query('LOCK TABLE rules IN ACCESS SHARE MODE')
  const said: string[] = []
  const say = (sentence: string) => void said.push(sentence)
  await t.rejects(migrate(url, { directory, lockAttempts: 2, say }), /has changed nothing: .*lock timeout/)
  t.match(said, [/_label has changed nothing: .*lock timeout\. It tries again \(1 of 2\)\.$/])
  const applied = await migrate(url, { directory, say: () => void backup.end() })
  t.same(applied, Object.keys(later), 'the backup has ended meanwhile')
  t.same(await migrate(url, { directory }), [])
})
