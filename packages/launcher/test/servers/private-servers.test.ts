import { readdir, readFile, stat } from 'node:fs/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { makeTemporaryDirectory } from '../../src/product/temporary-directory.js'
import { startPostgres } from '../../src/servers/postgres.js'
import { startRedis } from '../../src/servers/redis.js'
import type { Server } from '../../src/servers/server.js'
import { askRedis } from '../fixtures/ask-redis.js'
import { readCommand } from '../fixtures/read-command.js'

const isRoot = process.getuid?.() === 0
const hasProc = process.platform === 'linux'

async function temporaryPath(t: Test): Promise<string> {
  const directory = await makeTemporaryDirectory()
  t.teardown(() => directory.remove())
  return directory.path
}

async function query<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

function withPassword(url: string, password: string): string {
  const changed = new URL(url)
  changed.password = password
  return changed.href
}

async function startBoth(t: Test): Promise<{ postgres: Server; redis: Server }> {
  const path = await temporaryPath(t)
  const [postgres, redis] = await Promise.all([
    startPostgres({ directory: `${path}/postgres`, durable: false }),
    startRedis({ directory: `${path}/redis`, persistent: true }),
  ])
  t.teardown(() => Promise.all([postgres.stop(), redis.stop()]))
  return { postgres, redis }
}

t.test('private servers serve nobody without their password', async (t) => {
  const { postgres, redis } = await startBoth(t)
  t.same(await query(postgres.url, 'SELECT 1 AS one'), [{ one: 1 }])
  await t.rejects(query(withPassword(postgres.url, 'wrong'), 'SELECT 1'), { code: '28P01' })
  t.match(await askRedis(redis.url, 'PING'), '+PONG')
  t.match(await askRedis(withPassword(redis.url, ''), 'PING'), '-NOAUTH')
  for (const { pid, url } of [postgres, redis]) {
    t.notMatch(await readCommand(pid), new URL(url).password, 'the list of processes shows no password')
  }
})

t.test(
  'for root the servers run as another user, with no variable that they do not need',
  { skip: isRoot && hasProc ? false : 'only for root on Linux' },
  async (t) => {
    process.env.CLOUD_KEY = 'secret'
    t.teardown(() => {
      delete process.env.CLOUD_KEY
    })
    const { postgres, redis } = await startBoth(t)
    for (const { name, pid } of [postgres, redis]) {
      const status = await readFile(`/proc/${pid}/status`, 'utf8')
      t.notMatch(status, /^Uid:.*\t0\b/m, `${name} is not root`)
      t.notMatch(status, /^Gid:.*\t0\b/m)
      t.match(status, /^Groups:\s*(?!.*\b0\b)/m)
      const variables = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0')
      // Postgres adds some of its own, and tap some to every process that a test starts.
      const names = variables
        .map((text) => text.split('=', 1)[0] ?? '')
        .filter((name) => !/^(PG|LC_|_TAPJS_|NODE_OPTIONS$)/.test(name))
      t.same(
        names.filter((name) => !['', 'PATH', 'TZ', 'LD_LIBRARY_PATH', 'XPC_FLAGS'].includes(name)),
        [],
        name,
      )
    }
  },
)

t.test('only their owner can read what the servers write', async (t) => {
  const { postgres, redis } = await startBoth(t)
  for (const { name, directory } of [postgres, redis]) {
    t.equal((await stat(directory)).mode & 0o777, isRoot ? 0o711 : 0o700, name)
    for (const file of await readdir(directory)) {
      t.equal((await stat(`${directory}/${file}`)).mode & 0o077, 0, `${name}: ${file}`)
    }
  }
})
