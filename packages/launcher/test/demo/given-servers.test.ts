import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import t from 'tap'
import { reachRedis } from '../../src/demo/given-redis.js'
import { claimDatabase } from '../../src/demo/given-servers.js'
import { createPrivateDatabase } from '../../src/product/private-database.js'
import { makeTemporaryDirectory } from '../../src/product/temporary-directory.js'
import { findFreePort } from '../../src/servers/ports.js'
import { startRedis } from '../../src/servers/redis.js'
import { askRedis } from '../fixtures/ask-redis.js'
import { start, startDemo, triggerLead } from '../fixtures/start-demo.js'

const serverUrl = process.env.DATABASE_URL ?? ''
const redisUrl = process.env.REDIS_URL ?? ''

async function query<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

async function createEmptyDatabase(): Promise<string> {
  const name = `empty_${randomUUID().replaceAll('-', '')}`
  await query(serverUrl, `CREATE DATABASE ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

t.test('an empty database is marked, and is the demo’s from then on', async (t) => {
  const url = await createEmptyDatabase()
  const { host, pathname } = new URL(url)
  t.equal(await claimDatabase(url), `${host}${pathname}`)
  await query(url, 'CREATE TABLE anything ()')
  t.equal(await claimDatabase(url), `${host}${pathname}`)
  const both = await createEmptyDatabase()
  await t.resolves(Promise.all([claimDatabase(both), claimDatabase(both)]), 'two starts at once')
})

t.test('a database out of reach is reported with its address, and without its password', async (t) => {
  await t.rejects(claimDatabase('postgresql://ada:secret@127.0.0.1:1/none'), {
    name: 'CannotStart',
    message: /^DATABASE_URL \(127\.0\.0\.1:1\/none\) cannot be used: .*ECONNREFUSED[^@]*$/,
  })
})

t.test('a text that is no URL of Postgres is no name of a database', async (t) => {
  for (const url of ['nonsense', 'mysql://127.0.0.1/x', 'postgresql:x'])
    await t.rejects(claimDatabase(url), {
      name: 'CannotStart',
      message: 'DATABASE_URL is not a URL like postgresql://user:password@host:5432/name',
    })
})

t.test('a Redis out of reach is reported at once, and without its password', async (t) => {
  const { host, password } = new URL(redisUrl)
  t.equal(await reachRedis(redisUrl), host)
  t.equal(await reachRedis(`redis://default:${password}@${host}/0`), host)
  for (const [url, message] of [
    [
      'redis://:secret@127.0.0.1:1',
      /^REDIS_URL \(127\.0\.0\.1:1\) cannot be used: connect ECONNREFUSED[^@]*$/,
    ],
    [`redis://:wr%20ong@${host}`, /^REDIS_URL \(127\.0\.0\.1:\d+\) cannot be used: WRONGPASS /],
    [`redis://${host}`, /cannot be used: NOAUTH /],
    [`rediss://:${password}@${host}`, /cannot be used: /],
    ['nonsense', 'REDIS_URL is not a URL like redis://host:6379'],
    ['http://127.0.0.1:6379', 'REDIS_URL is not a URL like redis://host:6379'],
  ] as const)
    await t.rejects(reachRedis(url), { name: 'CannotStart', message }, url)
})

t.test('npm start leaves a database alone that is not the demo’s', async (t) => {
  const url = await createPrivateDatabase(serverUrl)
  await query(url, "DELETE FROM _prisma_migrations WHERE migration_name LIKE '%index_waiting_executions'")
  const env = { ...process.env, DATABASE_URL: url, REDIS_URL: '', PORT: `${await findFreePort()}` }
  const child = spawn(process.execPath, [start, t.testdir()], { env })
  const [errors, printed, [code]] = await Promise.all([
    text(child.stderr),
    text(child.stdout),
    once(child, 'exit'),
  ])
  t.equal(code, 1)
  const { host, pathname } = new URL(url)
  t.equal(
    errors,
    `DATABASE_URL (${host}${pathname}) has tables that the demo did not create, so npm start leaves it alone: unset ` +
      'DATABASE_URL or name an empty database; docs/operations.md ("By hand") says how to run the apps against a database ' +
      'in production\n',
  )
  t.equal(printed, '', 'nothing was started')
  t.same(await query(url, 'SELECT id FROM workspaces'), [], 'no demo')
  t.same(await query(url, "SELECT to_regtype('automation_demo') AS mark"), [{ mark: null }])
  const missing = "SELECT FROM _prisma_migrations WHERE migration_name LIKE '%index_waiting_executions'"
  t.same(await query(url, missing), [], 'no migration')
})

t.test(
  'the demo runs on given servers with keys, ports and mails of its own, even if the shell exports others',
  async (t) => {
    const { path, remove } = await makeTemporaryDirectory()
    t.teardown(remove)
    const url = await createEmptyDatabase()
    // The shared one has the keys of other tests.
    const redis = await startRedis({ directory: `${path}/redis`, persistent: false })
    t.teardown(() => redis.stop())
    const metricsPort = await findFreePort()
    const { launcher, demo, output } = await startDemo(path, await findFreePort(), {
      DATABASE_URL: url,
      REDIS_URL: redis.url,
      HOST: 'x86_64-conda-linux-gnu',
      METRICS_PORT: `${metricsPort}`,
      SMTP_URL: 'smtp://127.0.0.1:1',
      QUEUE_PREFIX: '{production}',
      PGOPTIONS: '--nonsense',
    })
    t.match(output, `DATABASE_URL: the demo uses ${new URL(url).host}${new URL(url).pathname}`)
    t.match(
      output,
      /REDIS_URL: the demo uses 127\.0\.0\.1:\d+, with keys that begin with \{automation-demo-[0-9a-f]{16}\}/,
    )
    t.match(output, 'SMTP_URL is not used by the demo')
    t.match(await triggerLead(demo), { triggered: 1 })
    const services = await Promise.all(
      [0, 1, 2].map(async (index) => (await fetch(`http://127.0.0.1:${metricsPort + index}/metrics`)).status),
    )
    t.same(services, [200, 200, 200], 'API, worker and board have metrics')
    const keys = (await askRedis(redis.url, 'KEYS *')).match(/^[^*$\r\n]\S*/gm) ?? []
    t.ok(keys.length > 0)
    t.same(
      keys.filter((key) => !key.startsWith('{automation-demo-')),
      [],
    )
    launcher.kill('SIGINT')
    t.same(await once(launcher, 'exit'), [0, null])
    const again = await startDemo(path, await findFreePort(), { DATABASE_URL: url })
    t.equal(again.demo.workspaceId, demo.workspaceId, 'the marked database serves a second time')
    again.launcher.kill('SIGINT')
    await once(again.launcher, 'exit')
  },
)
