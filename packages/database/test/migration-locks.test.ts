import pg from 'pg'
import t from 'tap'
import { faulty, harmless } from './fixtures/later-statements.js'
import { createDatabase, query } from './fixtures/scratch-databases.js'

const tables = `
  CREATE TYPE mood AS ENUM ('good', 'bad');
  CREATE TABLE other (id INT PRIMARY KEY, mood mood);
  CREATE TABLE old (id INT PRIMARY KEY, b TEXT DEFAULT '', other_id INT);
  CREATE INDEX spare ON old (other_id);
  INSERT INTO other VALUES (1), (2);
  INSERT INTO old SELECT n, 'b', 1 FROM generate_series(1, 100) AS n;
  ALTER TABLE old ADD CONSTRAINT unproven CHECK (id > 0) NOT VALID`

interface Effect {
  isRewritten: boolean
  /** Reads rows while nobody can write. */
  readsUnderLock: boolean
}

/** What a script does to the tables that are there, in a transaction that is rolled back. */
async function observe(client: pg.Client, sql: string): Promise<Effect> {
  await client.query('BEGIN')
  try {
    const before = await readFiles(client)
    await client.query(sql)
    const { rows } = await client.query<{ isLocked: boolean; read: string }>(`
      SELECT coalesce(bool_or(mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')), false) AS "isLocked",
             (SELECT sum(seq_tup_read) FROM pg_stat_xact_user_tables WHERE relname IN ('old', 'other')) AS read
      FROM pg_locks WHERE pid = pg_backend_pid() AND relation IN ('old'::regclass, 'other'::regclass)`)
    const [{ isLocked, read } = { isLocked: false, read: '0' }] = rows
    return { isRewritten: before !== (await readFiles(client)), readsUnderLock: isLocked && Number(read) > 0 }
  } finally {
    await client.query('ROLLBACK')
  }
}

async function readFiles(client: pg.Client): Promise<string> {
  const { rows } = await client.query(
    `SELECT string_agg(relfilenode::text, ' ' ORDER BY oid) AS files FROM pg_class WHERE oid IN ('old'::regclass, 'other'::regclass)`,
  )
  return rows[0].files
}

t.test(
  'what the guard lets pass rewrites no table, and reads none while it holds up who writes',
  async (t) => {
    const url = await createDatabase('harmless')
    await query(url, tables)
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    t.teardown(() => client.end())
    for (const sql of harmless.filter((one) => !one.includes('CONCURRENTLY')))
      t.same(await observe(client, sql), { isRewritten: false, readsUnderLock: false }, sql)
    const claims = Object.entries(faulty).filter(([, fault]) =>
      /rewrites the|reads all|NOT VALID/.test(fault.source),
    )
    t.ok(claims.length >= 8)
    for (const [sql, { source }] of claims) {
      const { isRewritten, readsUnderLock } = await observe(client, sql)
      if (source.startsWith('rewrites')) t.ok(isRewritten, sql)
      else t.ok(readsUnderLock, sql)
    }
  },
)
