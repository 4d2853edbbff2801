import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openDatabase } from '@automation/database'
import t, { type Test } from 'tap'
import { findPostgresBinaries } from '../../src/binaries/postgres-binaries.js'
import { findServerUser } from '../../src/binaries/server-user.js'
import { makeTemporaryDirectory } from '../../src/product/temporary-directory.js'
import { readCommand } from '../../src/servers/left-over.js'
import { findFreePort } from '../../src/servers/ports.js'
import { startPostgres } from '../../src/servers/postgres.js'
import { startRedis } from '../../src/servers/redis.js'
import type { Server } from '../../src/servers/server.js'
import { lockServer } from '../../src/servers/server-lock.js'
import { askRedis } from '../fixtures/ask-redis.js'

async function temporaryPath(t: Test): Promise<string> {
  const directory = await makeTemporaryDirectory()
  t.teardown(() => directory.remove())
  return directory.path
}

async function querySum({ url }: Server): Promise<unknown> {
  const database = openDatabase(url, 1)
  try {
    return await database.system.$queryRaw`select 1 + 1 as sum`
  } finally {
    await database.close()
  }
}

async function execute({ url }: Server, sql: string): Promise<void> {
  const database = openDatabase(url, 1)
  try {
    await database.system.$executeRawUnsafe(sql)
  } finally {
    await database.close()
  }
}

async function untilGone(pid: number): Promise<void> {
  while ((await readCommand(pid)) !== undefined) await delay(20)
}

t.test('Postgres keeps its data and its port from one run to the next', async (t) => {
  const directory = `${await temporaryPath(t)}/postgres`
  const first = await startPostgres({ directory, durable: true })
  await execute(first, 'create table kept ()')
  await first.stop()
  t.equal(await readCommand(first.pid), undefined, 'the server is gone after stop')

  const second = await startPostgres({ directory, durable: true })
  t.teardown(() => second.stop())
  t.equal(second.url, first.url)
  await execute(second, 'drop table kept')
})

t.test('a killed Postgres is restarted on its own port at once', async (t) => {
  const directory = `${await temporaryPath(t)}/postgres`
  const port = await findFreePort()
  const first = await startPostgres({ directory, port, durable: false })
  await querySum(first)
  first.kill('SIGKILL')
  t.same(await first.exited, { code: null, signal: 'SIGKILL' })

  const second = await startPostgres({ directory, port, durable: false })
  t.teardown(() => second.stop())
  t.equal(second.port, port)
  t.same(await querySum(second), [{ sum: 2 }])
})

t.test('a pid file that names another program stops neither that program nor Postgres', async (t) => {
  const directory = `${await temporaryPath(t)}/postgres`
  const first = await startPostgres({ directory, durable: false })
  const pidFile = `${first.directory}/data/postmaster.pid`
  const lines = (await readFile(pidFile, 'utf8')).split('\n')
  await first.stop()
  await writeFile(pidFile, [process.pid, ...lines.slice(1)].join('\n'))

  const second = await startPostgres({ directory, durable: false })
  t.teardown(() => second.stop())
  t.same(await querySum(second), [{ sum: 2 }])
})

t.test('only a persistent Redis keeps its data, even when it is killed', async (t) => {
  for (const persistent of [true, false]) {
    const directory = `${await temporaryPath(t)}/redis`
    const first = await startRedis({ directory, persistent })
    t.match(await askRedis(first.url, 'SET city London'), '+OK')
    // Redis writes to the file before the reply: a crash of the machine can lose the last second, but a kill cannot.
    first.kill('SIGKILL')
    await first.exited

    const second = await startRedis({ directory, persistent })
    t.equal(second.port, first.port)
    t.match(await askRedis(second.url, 'GET city'), persistent ? /London/ : /^\$-1|^_/)
    t.match(await askRedis(second.url, 'CONFIG GET maxmemory-policy'), 'noeviction')
    await second.stop()
    t.equal(await readCommand(second.pid), undefined, 'the server is gone after stop')
  }
})

/** Starts one of each server in a launcher of its own. */
async function startLauncher(path: string) {
  const fixture = fileURLToPath(new URL('../fixtures/launcher.js', import.meta.url))
  const launcher = spawn(process.execPath, [fixture, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(launcher.stdout, 'data')
  const [postgresPid = 0, redisPid = 0, nodePid = 0] = String(line).split(' ').map(Number)
  return { launcher, postgresPid, redisPid, nodePid }
}

t.test('a killed launcher leaves nothing running', async (t) => {
  const path = await temporaryPath(t)
  const { launcher, postgresPid, redisPid, nodePid } = await startLauncher(path)
  launcher.kill('SIGKILL')
  await Promise.all([postgresPid, redisPid, nodePid].map(untilGone))
  t.match(await readFile(`${path}/fake.log`, 'utf8'), 'shutting down', 'our own processes shut down in order')
  const log = await readFile(`${path}/postgres/postgres.log`, 'utf8')
  t.match(log, 'database system is shut down', 'and so does Postgres')
})

t.test('the next start replaces servers whose launcher and guards were killed', async (t) => {
  const path = await temporaryPath(t)
  const { launcher, postgresPid, redisPid } = await startLauncher(path)
  for (const pid of await findGuards(postgresPid, redisPid)) process.kill(pid, 'SIGKILL')
  launcher.kill('SIGKILL')
  await once(launcher, 'exit')
  t.ok(await readCommand(postgresPid), 'Postgres survives')
  t.ok(await readCommand(redisPid), 'Redis survives')

  const postgres = await startPostgres({ directory: `${path}/postgres`, durable: false })
  const redis = await startRedis({ directory: `${path}/redis`, persistent: true })
  t.teardown(() => Promise.all([postgres.stop(), redis.stop()]))
  t.equal(await readCommand(postgresPid), undefined)
  t.equal(await readCommand(redisPid), undefined)
  t.same(await querySum(postgres), [{ sum: 2 }])
  t.match(await askRedis(redis.url, 'PING'), '+PONG')
})

async function findGuards(...servers: number[]): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,args='], { maxBuffer: 16 * 1024 * 1024 })
  const lines = stdout.split('\n').filter((line) => servers.some((pid) => line.trimEnd().endsWith(` ${pid}`)))
  const guards = lines.filter((line) => line.includes(' guard '))
  t.equal(guards.length, servers.length)
  return guards.map((line) => Number.parseInt(line, 10))
}

t.test('no second server starts on the data of a running one, even if nobody can see it', async (t) => {
  const directory = `${await temporaryPath(t)}/postgres`
  const first = await startPostgres({ directory, durable: false })
  // As from another container, where its pid is unknown.
  await rm(`${first.directory}/data/postmaster.pid`)
  await t.rejects(lockServer(first.directory, 'Postgres', 100), {
    name: 'CannotStart',
    message: /^Another Postgres works on .*, perhaps in another container: stop it first$/,
  })
  first.kill('SIGKILL')
  closeSync(await lockServer(first.directory, 'Postgres'))
  t.pass('the lock ends with the last of its processes')
})

t.test('data of another major version is left alone, with the commands that take it along', async (t) => {
  const directory = `${await temporaryPath(t)}/post gres`
  const first = await startPostgres({ directory, durable: false })
  await execute(first, 'create table kept ()')
  await first.stop()
  const version = `${first.directory}/data/PG_VERSION`
  const major = await readFile(version, 'utf8')
  await writeFile(version, '14\n')
  const { name, message } = await startPostgres({ directory, durable: false }).then(
    () => new Error('it has started'),
    (error: Error) => error,
  )
  t.equal(name, 'CannotStart')
  const refusal = `data is of PostgreSQL 14. PostgreSQL ${major.trim()} is here and cannot read it; nothing was changed.`
  t.match(message, refusal)
  t.match(message, `cd '${first.directory}'`)
  t.match(message, 'pg_dump --host=127.0.0.1')
  t.match(message, 'mv data data-14')
  t.match(message, 'pg_restore --host=127.0.0.1')
  await writeFile(version, major)
  const second = await startPostgres({ directory, durable: false })
  t.teardown(() => second.stop())
  await execute(second, 'drop table kept')
})

t.test('of several versions of Postgres, the one that fits the data is used', async (t) => {
  const user = await findServerUser()
  const older = await findPostgresBinaries(user, 15).catch((error: Error) => error)
  if (older instanceof Error) {
    t.equal(older.name, 'CannotStart', 'there is only one')
    return
  }
  const { stdout } = await promisify(execFile)(older.postgres, ['--version'])
  t.match(stdout, /\(PostgreSQL\) 15/)
})

t.test('the log of the last run survives a start', async (t) => {
  const directory = `${await temporaryPath(t)}/redis`
  const first = await startRedis({ directory, persistent: false })
  await first.stop()
  const before = await readFile(first.log, 'utf8')
  const second = await startRedis({ directory, persistent: false })
  t.teardown(() => second.stop())
  t.equal(await readFile(`${second.log}.1`, 'utf8'), before)
  t.equal((await stat(second.log)).mode & 0o077, 0)
})

t.test('a server whose port is taken reports it', async (t) => {
  const path = await temporaryPath(t)
  const first = await startRedis({ directory: `${path}/redis`, persistent: false })
  t.teardown(() => first.stop())
  const second = startRedis({ directory: `${path}/second`, port: first.port, persistent: false })
  await t.rejects(second, { name: 'CannotStart', message: /address already in use/i })
})
