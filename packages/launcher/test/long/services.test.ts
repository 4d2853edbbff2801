import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openPatiently } from '@automation/database'
import t, { type Test } from 'tap'
import { makeTemporaryDirectory } from '../../src/product/temporary-directory.js'
import { findFreePort } from '../../src/servers/ports.js'
import { startPostgres } from '../../src/servers/postgres.js'
import { startRedis } from '../../src/servers/redis.js'
import type { Server } from '../../src/servers/server.js'
import { lockServer } from '../../src/servers/server-lock.js'
import { askRedis } from '../fixtures/ask-redis.js'
import { readCommand } from '../fixtures/read-command.js'

async function temporaryPath(t: Test): Promise<string> {
  const directory = await makeTemporaryDirectory()
  t.teardown(() => directory.remove())
  return directory.path
}

async function querySum({ url }: Server): Promise<unknown> {
  const database = openPatiently(url, 1)
  try {
    return await database.system.$queryRaw`select 1 + 1 as sum`
  } finally {
    await database.close()
  }
}

async function execute({ url }: Server, sql: string): Promise<void> {
  const database = openPatiently(url, 1)
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

t.test('a killed launcher leaves nothing running', async (t) => {
  const path = await temporaryPath(t)
  const fixture = fileURLToPath(new URL('../fixtures/launcher.js', import.meta.url))
  const launcher = spawn(process.execPath, [fixture, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [pids] = await once(launcher.stdout, 'data')
  launcher.kill('SIGKILL')
  await Promise.all(String(pids).split(' ').map(Number).map(untilGone))
  t.match(await readFile(`${path}/fake.log`, 'utf8'), 'shutting down', 'our own processes shut down in order')
  const log = await readFile(`${path}/postgres/postgres.log`, 'utf8')
  t.match(log, 'database system is shut down', 'and so does Postgres')
})

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
