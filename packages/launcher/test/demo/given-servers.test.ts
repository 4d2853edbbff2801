import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { reachRedis } from '../../src/demo/given-redis.js'
import { claimDatabase } from '../../src/demo/given-servers.js'
import { createPrivateDatabase } from '../../src/product/private-database.js'
import { findFreePort } from '../../src/servers/ports.js'
import { createEmptyDatabase, query } from '../fixtures/empty-database.js'
import { start } from '../fixtures/start-demo.js'

const serverUrl = process.env.DATABASE_URL ?? ''
const redisUrl = process.env.REDIS_URL ?? ''

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
  await query(url, 'DELETE FROM _prisma_migrations')
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
      'DATABASE_URL or name an empty database; docs/operate/processes.md ("By hand") says how to run the apps against a database ' +
      'in production\n',
  )
  t.equal(printed, '', 'nothing was started')
  t.same(await query(url, 'SELECT id FROM workspaces'), [], 'no demo')
  t.same(await query(url, "SELECT to_regtype('automation_demo') AS mark"), [{ mark: null }])
  t.same(await query(url, 'SELECT FROM _prisma_migrations'), [], 'no migration')
})
