import { mintToken } from '@automation/access'
import { listMigrations, migrate, newId, openDatabase } from '@automation/database'
import { findFreePort, makeTemporaryDirectory, startPostgres, startRedis } from '@automation/launcher'
import t from 'tap'
import { type OwnProcess, startOwnProcess } from '../fixtures/own-process.js'
import { until } from '../fixtures/product.js'

const jwtSecret = 'a secret of tests with more than 32 characters'
const directory = await makeTemporaryDirectory()
const startOwnPostgres = () =>
  startPostgres({ directory: `${directory.path}/postgres`, port: ports.postgres, durable: false })
const startOwnRedis = () =>
  startRedis({ directory: `${directory.path}/redis`, port: ports.redis, persistent: false })
const ports = { postgres: await findFreePort(), redis: await findFreePort() }
// Both keep their passwords, so their URLs are known before they start again.
const [databaseUrl = '', redisUrl = ''] = await Promise.all(
  [startOwnPostgres, startOwnRedis].map(async (start) => {
    const server = await start()
    await server.stop()
    return server.url
  }),
)
const settings = {
  DATABASE_URL: databaseUrl,
  REDIS_URL: redisUrl,
  JWT_SECRET: jwtSecret,
  ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
}
const workspaceId = newId()
const token = await mintToken({ secret: jwtSecret, userId: 'tester', expiresInSeconds: 600 })
const event = {
  method: 'POST',
  headers: {
    authorization: `Bearer ${token}`,
    'x-workspace-id': workspaceId,
    'content-type': 'application/json',
    prefer: 'respond-async',
  },
  body: '{"data":{}}',
}
t.teardown(() => directory.remove())

t.test('API and worker may be started before everything else, in any order', async (t) => {
  const [api, worker] = await Promise.all([
    startOwnProcess(t, 'api', settings),
    startOwnProcess(t, 'worker', settings),
  ])
  const post = () => api.ask('/api/automation-rules/trigger/LEAD_CREATED', event)
  await Promise.all([
    api.says(/waiting: Postgres is unavailable \([^)]*ECONNREFUSED[^)]*\)/),
    worker.says(
      /waiting: Postgres is unavailable \([^)]*\); Redis is unavailable \(127\.0\.0\.1:\d+: connect ECONNREFUSED [^)]*\)/,
    ),
  ])
  t.equal((await api.ask('/healthz')).status, 200, 'they are alive')
  t.equal((await worker.ask('/healthz')).status, 200)
  t.match(await api.ask('/readyz'), { status: 503, body: { postgres: 'away', migrations: 'unknown' } })
  t.match(await worker.ask('/readyz'), { status: 503, body: { status: 'starting' } })
  t.equal((await post()).status, 503)

  const postgres = await startOwnPostgres()
  t.teardown(() => postgres.stop())
  const lacking = new RegExp(`waiting: the database lacks ${(await listMigrations()).length} migrations? \\(`)
  await Promise.all([api.says(lacking), worker.says(lacking)])
  await untilReadyz(api, { postgres: 'ok', migrations: 'pending' })
  t.equal((await api.ask('/readyz')).status, 503)
  t.equal((await post()).status, 503)

  await migrate(databaseUrl)
  await Promise.all([
    api.says(/all dependencies are available/),
    worker.says(/waiting: Redis is unavailable/),
  ])
  const database = openDatabase(databaseUrl, 1)
  t.teardown(() => database.close())
  await database.system.workspace.create({
    data: { id: workspaceId, name: 'Test', members: { create: { userId: 'tester', role: 'admin' } } },
  })
  // The API serves without Redis.
  await untilReadyz(api, { status: 'ready', redis: 'away' })
  t.equal((await api.ask('/readyz')).status, 200)
  t.equal((await post()).status, 202)

  const redis = await startOwnRedis()
  t.teardown(() => redis.stop())
  await worker.says(/worker ready/)
  await until(async () => (await database.system.event.count({ where: { doneAt: null } })) === 0)
  t.equal(await database.system.event.count(), 1)
  await until(async () => (await worker.ask('/readyz')).status === 200)
  const reports = linesOf(worker.log(), 'waiting: ')
  t.ok(reports.some(({ msg }) => msg.startsWith('waiting: Redis')))
  // Each change is logged. A busy process writes a line somewhat after its time.
  t.strictSame(
    reports.filter((line, index) => {
      const last = reports[index - 1]
      return last?.msg === line.msg && line.time - last.time < 9_500
    }),
    [],
    'what is missing is logged once in 10 s',
  )

  // A process of the last version goes on over a schema that is newer.
  await database.system.$executeRaw`
    INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at)
    VALUES ('later', '', '20991231000000_later', now())`
  t.equal((await api.ask('/readyz')).status, 200)
  for (const one of [api, worker]) {
    one.stop()
    t.match(await one.exited, { code: 0 })
  }
})

/** When the lines with a text were logged (ms since 1970). */
function linesOf(log: string, text: string): { time: number; msg: string }[] {
  return log
    .split('\n')
    .filter((line) => line.includes(text))
    .map((line) => JSON.parse(line))
}

/** A process keeps what it has found for a second. */
async function untilReadyz(process: OwnProcess, state: Record<string, string>): Promise<void> {
  await until(async () => {
    const body = (await process.ask('/readyz')).body as Record<string, string>
    return Object.entries(state).every(([name, value]) => body[name] === value)
  })
}

t.test('a process waits for a missing dependency for 60 s', async (t) => {
  const never = {
    ...settings,
    DATABASE_URL: 'postgresql://postgres@127.0.0.1:1/postgres',
    REDIS_URL: 'redis://127.0.0.1:1',
  }
  const postgres = await startPostgres({ directory: `${directory.path}/mute`, durable: false })
  t.teardown(() => postgres.stop())
  postgres.kill('SIGSTOP')
  const started = await Promise.all([
    startOwnProcess(t, 'api', never),
    startOwnProcess(t, 'worker', never),
    startOwnProcess(t, 'worker', { ...never, DATABASE_URL: postgres.url }),
  ])
  const [api, worker, deaf] = await Promise.all(
    started.map(async ({ exited, log }) => ({ ...(await exited), log: log() })),
  )
  t.match(api, { code: 1, log: /"level":60.*timed out after 60 s: Postgres is unavailable/ })
  t.match(worker, {
    code: 1,
    log: /timed out after 60 s: Postgres is unavailable \(.*\); Redis is unavailable/,
  })
  t.match(
    deaf,
    {
      code: 1,
      log: /timed out after 60 s: Postgres is unavailable \(Connection terminated due to connection timeout\)/,
    },
    'even if Postgres accepts the connection and never responds',
  )
})

t.test('a worker that finds everything in place does not report that something is away', async (t) => {
  const [postgres, redis] = await Promise.all([startOwnPostgres(), startOwnRedis()])
  t.teardown(() => Promise.all([postgres.stop(), redis.stop()]))
  const worker = await startOwnProcess(t, 'worker', settings)
  await worker.says(/worker ready/)
  t.notMatch(worker.log(), /is unavailable/)
})

t.test('a process that is still waiting ends on SIGTERM', async (t) => {
  const nowhere = { ...settings, DATABASE_URL: 'postgresql://postgres@127.0.0.1:1/postgres' }
  const started = await Promise.all([
    startOwnProcess(t, 'api', nowhere),
    startOwnProcess(t, 'worker', nowhere),
  ])
  for (const one of started) {
    await one.says(/waiting: /)
    one.stop()
    t.match(await one.exited, { code: 0 })
  }
})
