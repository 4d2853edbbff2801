import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import t from 'tap'
import { migrate } from '../../src/migrate.js'
import { listMigrations } from '../../src/migrations.js'
import { addMigrations, later } from '../fixtures/later-migrations.js'
import { createDatabase, describeTables, query, serverUrl } from '../fixtures/scratch-databases.js'

const command = fileURLToPath(new URL('../../src/migrate-command.js', import.meta.url))
const directory = await addMigrations(later)
const undisturbed = await createDatabase('undisturbed')
await migrate(undisturbed, { directory })
const wanted = await describeTables(undisturbed)

/** How long a statement takes at whose end a migration is interrupted. */
const stopSeconds = 3

interface Run {
  child: ChildProcess
  /** What it has printed, when it has ended. */
  ended: Promise<{ code: number | null; signal: string | null; output: string }>
}

function runCommand(url: string): Run {
  const child = spawn(process.execPath, [command, directory], { env: { DATABASE_URL: url } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, output }))
  return { child, ended }
}

/** Begins a migration, and waits until it is at the end of the statement that creates the object. */
async function runUntil(url: string, object: string): Promise<Run> {
  await query(url, `ALTER DATABASE ${nameOf(url)} SET test.stop_at = '${object}'`)
  await query(
    url,
    `CREATE FUNCTION stop_at() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
       IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity = current_setting('test.stop_at')) THEN
         PERFORM pg_sleep(${stopSeconds});
       END IF;
     END $$;
     CREATE EVENT TRIGGER stop_at ON ddl_command_end EXECUTE FUNCTION stop_at()`,
  )
  const run = runCommand(url)
  await untilActivity(url, `wait_event = 'PgSleep'`)
  await query(
    url,
    `ALTER DATABASE ${nameOf(url)} RESET test.stop_at; DROP EVENT TRIGGER stop_at; DROP FUNCTION stop_at()`,
  )
  return run
}

async function untilActivity(url: string, condition: string): Promise<void> {
  const sql = `SELECT FROM pg_stat_activity WHERE datname = '${nameOf(url)}' AND ${condition}`
  while ((await query(serverUrl, sql)).length === 0) await delay(20)
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1)
}

/** As a restart of the server does it to them. */
function endConnections(url: string): Promise<unknown> {
  return query(
    serverUrl,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${nameOf(url)}'`,
  )
}

const ways: Record<string, (url: string, child: ChildProcess) => unknown> = {
  SIGKILL: (_url, child) => child.kill('SIGKILL'),
  SIGTERM: (_url, child) => child.kill('SIGTERM'),
  SIGINT: (_url, child) => child.kill('SIGINT'),
  restart: endConnections,
}
/** In the middle of a migration, at its end, and an index that is built while others write. */
const places = {
  middle: 'public.executions',
  end: 'public.backtests_unfinished',
  index: 'public.rules_workspace_id_name_idx',
}

for (const [way, interrupt] of Object.entries(ways))
  for (const [place, object] of Object.entries(places))
    t.test(`the next migration goes on after an interruption: ${way}, ${place}`, async (t) => {
      const url = await createDatabase(`interrupted_${way}_${place}`.toLowerCase())
      const { child, ended } = await runUntil(url, object)
      await interrupt(url, child)
      const { code, signal, output } = await ended
      if (way === 'SIGKILL') t.equal(signal, 'SIGKILL')
      else t.equal(code, 1)
      t.notMatch(output, / at .*:\d+:\d+/, 'no stack')
      if (way.startsWith('SIGTERM')) t.match(output, /SIGTERM[^\n]*npm run migrate/)
      const next = await runCommand(url).ended
      t.match(next, { code: 0, output: /Applied: / })
      t.same(await describeTables(url), wanted)
      const ledger = await query<{ name: string; isFinished: boolean }>(
        url,
        `SELECT migration_name AS name, finished_at IS NOT NULL AS "isFinished" FROM _prisma_migrations ORDER BY 1`,
      )
      const names = await listMigrations(directory)
      t.same(
        ledger,
        names.map((name) => ({ name, isFinished: true })),
      )
    })

t.test('an index that was left invalid is built again', async (t) => {
  const url = await createDatabase('invalid_index')
  const writer = new pg.Client({ connectionString: url })
  writer.on('error', () => {})
  await writer.connect()
  // The index waits for all transactions that may see rows without it.
  const run = await runUntil(url, 'public.workspaces')
  await writer.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await writer.query('SELECT count(*) FROM pg_class')
  await untilActivity(url, `query LIKE '%CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'`)
  await endConnections(url)
  t.match(await run.ended, { code: 1 })
  const isInvalid = await query(url, 'SELECT FROM pg_index WHERE NOT indisvalid')
  t.equal(isInvalid.length, 1)
  t.match(await runCommand(url).ended, { code: 0 })
  t.same(await describeTables(url), wanted)
})

t.test('a migration whose Postgres does not react any more says so when it is ended', async (t) => {
  const url = await createDatabase('frozen')
  const { child, ended } = await runUntil(url, 'public.executions')
  const [backend] = await query<{ pid: number }>(
    serverUrl,
    `SELECT pid FROM pg_stat_activity WHERE datname = '${nameOf(url)}' AND wait_event = 'PgSleep'`,
  )
  const pid = backend?.pid as number
  process.kill(pid, 'SIGSTOP')
  t.teardown(() => process.kill(pid, 'SIGCONT'))
  child.kill('SIGTERM')
  t.match(await ended, { code: 1, output: /^Ended by SIGTERM[^\n]*npm run migrate\n$/ })
})
