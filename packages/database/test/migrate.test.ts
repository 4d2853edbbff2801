import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import t from 'tap'
import { newId, ruleSetIdOf } from '../src/ids.js'
import { diffSchemas, listMigrations, migrate } from '../src/migrate.js'

const serverUrl = process.env.DATABASE_URL ?? ''

/** An empty database of its own on the test server. */
async function createDatabase(name: string): Promise<string> {
  await query(serverUrl, `CREATE DATABASE ${name}`)
  return new URL(`/${name}`, serverUrl).href
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const result = await client.query(sql)
    return Array.isArray(result) ? [] : result.rows
  } finally {
    await client.end()
  }
}

/** All properties of the tables that a Prisma schema can express. */
function describeTables(url: string): Promise<unknown[]> {
  return query(
    url,
    `SELECT 'column' AS kind, table_name || '.' || column_name AS name,
            concat_ws(' ', data_type, udt_name, datetime_precision, is_nullable, column_default) AS definition
     FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> '_prisma_migrations'
     UNION ALL
     SELECT 'index', indexname, indexdef FROM pg_indexes
     WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'
     UNION ALL
     SELECT 'constraint', conname, pg_get_constraintdef(oid) FROM pg_constraint
     WHERE connamespace = 'public'::regnamespace AND conrelid <> coalesce(to_regclass('_prisma_migrations'), 0)
     UNION ALL
     SELECT 'enum', typname, string_agg(enumlabel, ' ' ORDER BY enumsortorder)
     FROM pg_enum JOIN pg_type ON pg_type.oid = enumtypid GROUP BY typname
     ORDER BY 1, 2`,
  )
}

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

t.test('many processes may migrate at the same time: one migrates, and none fails', async (t) => {
  const url = await createDatabase('crowded')
  const applied = await Promise.all([migrate(url), migrate(url), migrate(url)])
  t.same(applied.flat(), await listMigrations())
  t.same(await migrate(url), [], 'and there is nothing left to do')
})

t.test('the checksum of each migration is stored as Prisma computes it', async (t) => {
  const url = await createDatabase('sums')
  const names = await migrate(url)
  t.ok(names.length > 0)
  const applied = 'SELECT migration_name AS name, checksum FROM _prisma_migrations ORDER BY started_at'
  const sums = names.map(async (name) => ({ name, checksum: hash('sha256', await readMigration(name)) }))
  t.strictSame(await query(url, applied), await Promise.all(sums))
})

t.test('where a migration has failed, none is applied', async (t) => {
  const url = await createDatabase('failed')
  await migrate(url)
  await query(url, `UPDATE _prisma_migrations SET finished_at = NULL, logs = 'failed'`)
  await t.rejects(migrate(url), /failed migrations/)
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
