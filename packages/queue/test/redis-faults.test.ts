import { EventEmitter, once } from 'node:events'
import { Redis } from 'ioredis'
import t from 'tap'
import { openQueue } from '../src/event-queue.js'
import { logOutages, openRedis } from '../src/open-redis.js'
import { RedisFaults } from '../src/redis-faults.js'

const given = process.env.REDIS_URL ?? ''
const admin = new Redis(given)
t.teardown(() => admin.disconnect())

/** The URL of the test server, changed. */
function change(apply: (url: URL) => void): string {
  const url = new URL(given)
  apply(url)
  return url.href
}

const cases: Record<string, { url: string; fault: RegExp }> = {
  'no password': {
    url: change((url) => {
      url.password = ''
    }),
    fault: /NOAUTH/,
  },
  'a wrong password': {
    url: change((url) => {
      url.password = 'do-not-show'
    }),
    fault: /WRONGPASS invalid username-password pair/,
  },
  'an unknown user': {
    url: change((url) => {
      url.username = 'nobody'
    }),
    fault: /WRONGPASS/,
  },
  'TLS to a port without it': { url: given.replace('redis:', 'rediss:'), fault: /does the port speak TLS/ },
  'a database that is not there': { url: `${given}/99`, fault: /DB index is out of range/ },
  'nobody there': {
    url: change((url) => {
      url.port = '1'
    }),
    fault: /connect ECONNREFUSED/,
  },
  'no such host': {
    url: change((url) => {
      url.hostname = 'redis.invalid'
    }),
    fault: /ENOTFOUND|EAI_AGAIN/,
  },
  'a user who may not ask which version it is': {
    url: change((url) => {
      url.username = 'weak'
      url.password = 'do-not-show'
    }),
    fault: /the user may not run info with the prefix \S+\)/,
  },
}

t.test('what Redis responds stands in one line, and no password', async (t) => {
  await admin.acl('SETUSER', 'weak', 'on', '>do-not-show', '~*', '&*', '+@all', '-info')
  const found = Object.entries(cases).map(async ([name, { url, fault }]) => {
    const queue = openQueue(url, '{faults}')
    t.teardown(() => queue.close())
    return { name, fault, line: await queue.findFault(3_000).catch(({ message }) => message) }
  })
  for (const { name, fault, line } of await Promise.all(found)) {
    t.match(line, fault, name)
    t.match(line, /^Redis is unavailable \([\w.]+:\d+: [^\n]+\)$/, name)
    t.notMatch(line, /do-not-show/, name)
  }
})

t.test('of a cluster of which no node responds, each node and one fault stand in one line', async (t) => {
  const queue = openQueue('redis+cluster://:do-not-show@127.0.0.1:1,127.0.0.1:2', '{faults}')
  t.teardown(() => queue.close())
  t.equal(
    await queue.findFault(1_000),
    'Redis is unavailable (the cluster of 127.0.0.1:1, 127.0.0.1:2: 127.0.0.1:2: connect ECONNREFUSED 127.0.0.1:2)',
  )
})

t.test('a connection that is closed while it looks for a primary of a cluster ends', async (t) => {
  const redis = openRedis('redis+cluster://127.0.0.1:1', '{faults}', 'wait')
  const ended = once(redis, 'end')
  redis.disconnect()
  await ended
  t.equal(redis.status, 'end')
})

t.test('a prefix without a hash tag is refused for a cluster', async (t) => {
  t.throws(
    () => openRedis('redis+cluster://127.0.0.1:1', 'faults', 'wait'),
    /QUEUE_PREFIX must have a hash tag/,
  )
})

t.test('a Redis that is there has no fault', async (t) => {
  const queue = openQueue(`${given}/1`, '{faults}')
  t.teardown(() => queue.close())
  t.equal(await queue.findFault(5_000), undefined)
})

t.test('a fault that repeats a command has no argument of it, which may be a password', async (t) => {
  const redis = Object.assign(new EventEmitter(), { options: {} })
  const faults = new RedisFaults()
  faults.watch(redis as unknown as Redis)
  redis.emit('error', new Error("ERR unknown command 'AUTH', with args beginning with: 'do-not-show'"))
  redis.emit('close')
  t.equal(faults.last, "ERR unknown command 'AUTH'")
})

t.test('an outage is one line and its end is one, and a connection that we close is no outage', async (t) => {
  const redis = openRedis(given, '{faults}', 'wait')
  t.teardown(() => redis.disconnect())
  const lines: string[] = []
  const log = { info: (line: string) => lines.push(line), warn: (line: string) => lines.push(line) }
  logOutages(redis, log, 'jobs wait')
  await once(redis, 'ready')
  const away = once(redis, 'close')
  await admin.client('KILL', 'ID', await redis.client('ID'))
  await away
  await once(redis, 'ready')
  const ended = once(redis, 'end')
  redis.disconnect()
  await ended
  t.match(lines, [/^Redis is unavailable \(.*\); jobs wait$/, /^Redis is back$/])
  t.equal(lines.length, 2)
})
