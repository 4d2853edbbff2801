import { spawnSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { chmod, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { createWorkspace, findOpenRestore, mintToken } from '@automation/access'
import { findDatabaseFault, newId, openPatiently } from '@automation/database'
import { findPostgresTools, makeTemporaryDirectory, startPostgres, startProduct } from '@automation/launcher'
import { deleteWorkspace } from '@automation/rules'
import pg from 'pg'
import t, { type Test } from 'tap'
import { appendNote, type BackupNote, readBackup } from '../src/backup/backup-note.js'
import { run, runJson, runProcess } from './fixtures/run.js'

// A server and its own client programs: npm installs a server alone.
const tools = await findPostgresTools()
const temporary = await makeTemporaryDirectory()
const server = await startPostgres({
  directory: `${temporary.path}/postgres`,
  durable: false,
  binaries: tools,
})
const product = await startProduct({
  directory: temporary.path,
  durable: false,
  databaseUrl: await createDatabase('live'),
  redisUrl: process.env.REDIS_URL,
  env: { QUEUE_PREFIX: `{backup-${randomUUID()}}` },
})
const database = openPatiently(product.databaseUrl, 2)
t.teardown(async () => {
  await database.close()
  await product.stop()
  await server.stop()
  await temporary.remove()
})
const directory = t.testdir()
const file = `${directory}/live.dump`
const PATH = `${tools.bin}:${process.env.PATH}`
const live = { ...product.env, PATH }
/** A Redis in which no service has ever run. */
const elsewhere = (url: string) => ({ ...live, DATABASE_URL: url, QUEUE_PREFIX: `{new-${randomUUID()}}` })
const events = await makeEvents()

t.test('a backup is whole, private and checked, and a restore has all of it', async (t) => {
  const made = await runJson<Record<string, unknown>>('admin', `backup ${file}`, directory, live)
  t.match(made, { file, events, bytes: Number, sha256: /^[0-9a-f]{64}$/, tool: /^\d+/, program: /^\d/ })
  t.equal((await stat(file)).mode & 0o777, 0o600)
  t.strictSame(await readdir(directory), ['live.dump'])
  const sql = spawnSync(`${tools.bin}/pg_restore`, ['--file=-', file], { maxBuffer: 1e9 })
  t.equal(sql.status, 0, 'pg_restore reads the file as it is')
  t.match(sql.stdout.toString(), 'COPY history.events_high')
  for (const key of [product.encryptionKey, product.jwtSecret]) t.notOk(sql.stdout.includes(key))

  t.match(await run('admin', `backup ${file}`, directory, live), { code: 1, errors: /exists already/ })
  const url = await createDatabase('restored')
  const restored = await runProcess('admin', `restore ${file}`, directory, elsewhere(url))
  t.match(restored, {
    code: 0,
    output: new RegExp(`^Restored ${events} events, as of .*\nThe count is that`),
  })
  t.match(restored.output, /deletes Leaving \([0-9a-f-]{36}\) on 20.*workspaces keep/, 'what workers will do')
  for (const table of ['events', 'executions', 'tasks', 'rules', 'members'])
    t.strictSame(await count(url, table), await count(product.databaseUrl, table), table)
  t.strictSame(await count(url, 'executions'), events, 'and the events had executions')
  const analyzed = await query<{ name: string }>(
    url,
    `SELECT relname AS name FROM pg_class WHERE relname ~ '^(events|members)(_low|_high|_[0-9]+)?$' AND reltuples >= 0 ORDER BY relname`,
  )
  t.strictSame(
    // A worker may have cut it off the high edge.
    analyzed.map(({ name }) => name.replace(/^events_(high|20260105)$/, 'events_with_rows')),
    ['events_with_rows', 'members'],
    'neither empty leaves nor what has them, as autovacuum leaves them',
  )
})

t.test('a restore takes no database that has tables or is in use, and names them', async (t) => {
  const alive = await run('admin', `restore ${file}`, directory, { ...elsewhere(product.databaseUrl) })
  t.match(alive, {
    code: 1,
    errors:
      /The database live has \d+ tables \(.*\) and is in use by process \d+ of Postgres \(postgres from 127\.0\.0\.1.*nothing was changed/,
  })
  const url = await createDatabase('used')
  const other = new pg.Client({ connectionString: url, application_name: 'board' })
  await other.connect()
  const used = await run('admin', `restore ${file}`, directory, elsewhere(url))
  t.match(used, {
    code: 1,
    errors: /used is in use by process \d+ of Postgres \(postgres from [\d.]+, board\)/,
  })
  await other.query('CREATE TABLE notes (id INT)')
  await other.end()
  const filled = await run('admin', `restore ${file}`, directory, elsewhere(url))
  t.match(filled, { code: 1, errors: /used has 1 tables \(notes\)/ })
  t.strictSame(await count(url, "pg_tables WHERE tablename = 'notes'"), 1)
})

t.test('a restore takes no Redis in which the service has run, and says if it sees none', async (t) => {
  const url = await createDatabase('beside_redis')
  const env = { ...live, DATABASE_URL: url }
  t.match(await run('admin', `restore ${file}`, directory, env), {
    code: 1,
    errors:
      /Redis has keys of the service \(\{backup-.*redis-cli -u "\$REDIS_URL" flushall.* in a cluster .*backup\.md/,
  })
  t.strictSame(await countTables(url), 0)
  // Of a connection that has just ended Postgres may still know.
  const fresh = { ...env, DATABASE_URL: await createDatabase('unseen_redis') }
  const unseen = await run('admin', `restore ${file}`, directory, {
    ...fresh,
    REDIS_URL: 'redis://127.0.0.1:1',
  })
  t.match(unseen, { code: 0, output: /Redis must be empty .* It was not looked at: Redis is unavailable/ })
})

t.test('what is no whole backup of this version is refused before anything is changed', async (t) => {
  const url = await createDatabase('refused')
  const whole = await readFile(file)
  const note = await readBackup(file)
  const dump = whole.subarray(0, note.bytes)
  const flipped = Buffer.from(whole)
  flipped[note.bytes >> 1] = (flipped[note.bytes >> 1] ?? 0) ^ 1
  const files: Record<string, [content: Buffer, words: RegExp]> = {
    empty: [Buffer.alloc(0), /is empty/],
    cut: [whole.subarray(0, whole.length - 5), /last line is missing/],
    half: [whole.subarray(0, whole.length >> 1), /last line is missing/],
    plain: [dump, /last line is missing\. A dump of pg_dump is restored by hand/],
    flipped: [flipped, /is damaged/],
  }
  for (const [name, [content, words]] of Object.entries(files)) {
    await writeFile(`${directory}/${name}`, content)
    const refused = await run('admin', `restore ${directory}/${name}`, directory, elsewhere(url))
    t.match(refused, { code: 1, errors: words }, name)
  }
  const notes: Record<string, [Partial<BackupNote>, RegExp]> = {
    newer: [
      { migrations: [...note.migrations, { name: '20990101000000_x', checksum: '' }] },
      /Restore it with/,
    ],
    older: [{ migrations: [{ name: note.migrations[0]?.name ?? '', checksum: '' }] }, /development version/],
  }
  for (const [name, [changed, words]] of Object.entries(notes)) {
    await writeFile(`${directory}/${name}`, dump)
    await appendNote(`${directory}/${name}`, { ...note, ...changed })
    const refused = await run('admin', `restore ${directory}/${name}`, directory, elsewhere(url))
    t.match(refused, { code: 1, errors: words }, name)
  }
  t.match(await run('admin', 'restore none.dump', directory, elsewhere(url)), {
    code: 1,
    errors: /cannot be read/,
  })
  t.strictSame(await countTables(url), 0)
})

t.test('a restore that fails in the middle leaves the database empty', async (t) => {
  const url = await createDatabase('half')
  const note = await readBackup(file)
  const half = `${directory}/inner-half`
  await writeFile(half, await readFile(file))
  await truncate(half, Math.floor(note.bytes * 0.7))
  await appendNote(half, note)
  // Some versions of pg_restore crash at a file that ends too early.
  const failed = await run('admin', `restore ${half}`, directory, elsewhere(url))
  t.match(failed, { code: 1, errors: /pg_restore ended with (1|SIGSEGV)/ })
  t.strictSame(await countTables(url), 0)
})

t.test('after a restore that is killed no worker starts, or it is paused', async (t) => {
  for (const [loads, name] of ['killed_once', 'killed_twice'].entries()) {
    const url = await createDatabase(name)
    const counted = `${t.testdir({})}/${name}`
    const kills = await fakeTool(
      t,
      'pg_restore',
      `${tools.bin}/pg_restore "$@" || exit\ncase "$*" in *--dbname=*) echo >> ${counted};; *) exit 0;; esac\n[ $(wc -l < ${counted}) -le ${loads} ] || kill -9 $PPID`,
    )
    await runProcess('admin', `restore ${file}`, directory, { ...elsewhere(url), PATH: kills })
    t.strictSame(await count(url, 'events'), events, 'after the rows were committed')
    const restored = openPatiently(url, 1)
    const fault = await findDatabaseFault(restored)
    const isPaused = (await findOpenRestore(restored)) !== undefined
    await restored.close()
    t.ok(fault || isPaused, `${name}: ${fault}`)
    const env = { DATABASE_URL: url }
    t.match(await run('admin', `removals write ${directory}/of-the-past`, directory, env), {
      code: 1,
      errors: /was restored, and its workers were not started.* The file was not changed/,
    })
    t.match(await run('admin', `restore ${file}`, directory, elsewhere(url)), {
      code: 1,
      errors: /has \d+ tables/,
    })
  }
})

t.test('what an installation has lost is not looked for in another one', async (t) => {
  const env = { DATABASE_URL: process.env.DATABASE_URL ?? '', OLD_DATABASE_URL: product.databaseUrl }
  t.match(await run('admin', 'lost', directory, env), { code: 1, errors: /neither was a standby/ })
})

t.test('a restored database with fewer events, or with a fault, ends with an error', async (t) => {
  const note = await readBackup(file)
  const more = `${directory}/more`
  await writeFile(more, (await readFile(file)).subarray(0, note.bytes))
  await appendNote(more, { ...note, events: events + 1 })
  const fewer = await run('admin', `restore ${more}`, directory, elsewhere(await createDatabase('fewer')))
  t.match(fewer, {
    code: 1,
    output: new RegExp(`has ${events + 1} events, and the database has ${events}\\.`),
  })

  const url = await createDatabase('with_fault')
  t.match(await run('admin', `restore ${file}`, directory, elsewhere(url)), { code: 0 })
  await query(url, 'DELETE FROM tasks WHERE id = (SELECT min(id::text) FROM tasks)::uuid')
  const faulty = `${directory}/faulty`
  t.match(await run('admin', `backup ${faulty}`, directory, elsewhere(url)), { code: 0 })
  const restored = await run(
    'admin',
    `restore ${faulty}`,
    directory,
    elsewhere(await createDatabase('faulty')),
  )
  t.match(restored, { code: 1, output: /Do not use .*\nThe reconciliation found 1 × task_missing: / })
})

t.test('a program that is older than the server, or missing, is refused', async (t) => {
  const old = await fakeTool(t, 'pg_dump', 'echo "pg_dump (PostgreSQL) 9.6.24"')
  const refused = await run('admin', `backup ${directory}/outdated`, directory, { ...live, PATH: old })
  t.match(refused, {
    code: 1,
    errors:
      /pg_dump is of version 9\.6\.24 and the server of version (\d+)\. Install the client of PostgreSQL \1 or newer/,
  })
  const missing = await run('admin', `backup ${directory}/outdated`, directory, {
    ...live,
    PATH: t.testdir(),
  })
  t.match(missing, { code: 1, errors: /pg_dump is not on the PATH\. Install the client/ })
  const empty = await createDatabase('nothing')
  t.match(await run('admin', `backup ${directory}/outdated`, directory, elsewhere(empty)), {
    code: 1,
    errors: /has no tables of this service: there is nothing to back up/,
  })
  t.notOk((await readdir(directory)).some((name) => name.startsWith('outdated')))
})

t.test('a backup that is killed or fails in the middle leaves no file of its name', async (t) => {
  const target = `${directory}/killed`
  const begins = 'for one; do case $one in --file=*) echo part > "${one#--file=}";; esac; done'
  const version = `case $1 in --version) exec ${tools.bin}/pg_dump --version;; esac`
  const fails = await fakeTool(t, 'pg_dump', `${version}\n${begins}\necho no space left >&2\nexit 1`)
  const failed = await run('admin', `backup ${target}`, directory, { ...live, PATH: fails })
  t.match(failed, { code: 1, errors: /pg_dump ended with 1: no space left/ })
  const nothing = await fakeTool(t, 'pg_dump', `${version}\nexit 0`)
  const empty = await run('admin', `backup ${target}`, directory, { ...live, PATH: nothing })
  t.match(empty, { code: 1, errors: /pg_restore ended with 1/ })
  t.notOk((await readdir(directory)).some((name) => name.startsWith('killed')))
  const kills = await fakeTool(t, 'pg_dump', `${version}\n${begins}\nkill -9 $PPID`)
  await runProcess('admin', `backup ${target}`, directory, { ...live, PATH: kills })
  t.strictSame(
    (await readdir(directory)).filter((name) => name.startsWith('killed')),
    ['killed.partial'],
  )
  const again = await run('admin', `backup ${target}`, directory, live)
  t.match(again, { code: 1, errors: /another backup is writing it, or one was killed/ })
})

/** A program that stands first on the PATH. */
async function fakeTool(t: Test, name: string, script: string): Promise<string> {
  const place = t.testdir({ [name]: `#!/bin/sh\n${script}\n` })
  await chmod(`${place}/${name}`, 0o755)
  return `${place}:${PATH}`
}

/** @returns how many */
async function makeEvents(): Promise<number> {
  const user = `ada-${randomBytes(4).toString('hex')}`
  const { id } = await createWorkspace(
    { database, actor: 'cli:test' },
    { name: 'Acme', adminUserId: user, plan: 'enterprise' },
  )
  const token = await mintToken({ secret: product.jwtSecret, userId: user, expiresInSeconds: 3_600 })
  const env = { RULES_URL: product.apis[0]?.baseUrl ?? '', RULES_TOKEN: token, RULES_WORKSPACE: id }
  const actions = '[{"type":"CREATE_TASK","config":{"title":"Call"}}]'
  await runJson('client', `rules create --name Call --trigger DEAL_WON --actions ${actions}`, directory, env)
  for (let index = 0; index < 5; index++)
    await runJson('client', `events send DEAL_WON {"index":${index}}`, directory, env)
  // Long after this test.
  const leaving = { database, workspaceId: newId(), actor: 'cli:test' }
  await createWorkspace(leaving, { name: 'Leaving', adminUserId: user }, { id: leaving.workspaceId })
  await deleteWorkspace(leaving, 'Leaving')
  return count(product.databaseUrl, 'events')
}

async function createDatabase(name: string): Promise<string> {
  await query(server.url, `CREATE DATABASE ${name}`)
  return new URL(`/${name}`, server.url).href
}

async function count(url: string, table: string): Promise<number> {
  const [row] = await query<{ count: number }>(url, `SELECT count(*)::int AS count FROM ${table}`)
  return row?.count ?? 0
}

const countTables = (url: string) => count(url, "pg_tables WHERE schemaname = 'public'")

async function query<Row>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
