import { randomUUID } from 'node:crypto'
import { openRedis, type Redis, waitForRedis } from '@automation/queue/open-redis'
import t, { type Test } from 'tap'
import { maxEntries, SpentIds } from '../../src/sign-in/spent-ids.js'

async function openReady(t: Test) {
  const redis = openRedis(process.env.REDIS_URL ?? '', '{spent}', 'fail at once')
  t.teardown(() => redis.disconnect())
  await waitForRedis(redis, 10_000)
  return redis
}
const soon = () => Math.floor(Date.now() / 1_000) + 60

t.test('an id is spent once, in one process and among several', async (t) => {
  const queuePrefix = `{console-${randomUUID()}}`
  for (const redis of [undefined, await openReady(t)]) {
    const first = new SpentIds('link', redis, queuePrefix)
    const second = redis ? new SpentIds('link', await openReady(t), queuePrefix) : first
    const other = new SpentIds('session', redis, queuePrefix)
    const results = await Promise.all([first, second, first, second].map((one) => one.spend('a', soon())))
    t.strictSame(results.sort(), ['spent', 'was-spent', 'was-spent', 'was-spent'])
    t.equal(await second.isSpent('a'), true)
    t.equal(await second.isSpent('b'), false)
    t.equal(await other.spend('a', soon()), 'spent', 'links and sessions are kept apart')
  }
})

/** A connection whose transactions behave as a test wants, while all else works. */
function withTransactions(redis: Redis, behave: (exec: () => Promise<unknown>) => Promise<unknown>): Redis {
  return Object.assign(Object.create(redis), {
    multi() {
      const multi = redis.multi()
      const exec = multi.exec.bind(multi)
      return Object.assign(multi, { exec: () => behave(exec) })
    },
  })
}

t.test('an ended session that Redis refused is written once Redis accepts writes', async (t) => {
  const queuePrefix = `{console-${randomUUID()}}`
  const redis = await openReady(t)
  let isRefusing = true
  const refusing = withTransactions(redis, async (exec) => {
    if (isRefusing) throw new Error('EXECABORT')
    return exec()
  })
  const ids = new SpentIds('session', refusing, queuePrefix)
  const other = new SpentIds('session', redis, queuePrefix)
  await ids.end('a', soon())
  t.equal(await ids.isSpent('a'), true)
  t.equal(await other.isSpent('a'), false)
  isRefusing = false
  while (!(await other.isSpent('a'))) await ids.isSpent('b')
})

t.test('a claim whose response was lost is made again, and still works once', async (t) => {
  const queuePrefix = `{console-${randomUUID()}}`
  const redis = await openReady(t)
  let isLosing = true
  const losing = withTransactions(redis, async (exec) => {
    const results = await exec()
    if (isLosing) throw new Error('Command timed out')
    return results
  })
  const ids = new SpentIds('link', losing, queuePrefix)
  const other = new SpentIds('link', redis, queuePrefix)
  for (let i = 0; i < 2; i++) t.equal(await ids.spend('a', soon()), 'unknown')
  t.equal(await other.spend('a', soon()), 'was-spent', 'for another process it is used')
  isLosing = false
  const results = await Promise.all([ids.spend('a', soon()), ids.spend('a', soon())])
  t.strictSame(results.sort(), ['spent', 'was-spent'])
  t.equal(await ids.spend('a', soon()), 'was-spent')
})

t.test('ids that have expired, and those beyond a limit, are forgotten in Redis', async (t) => {
  const queuePrefix = `{console-${randomUUID()}}`
  const redis = await openReady(t)
  const ids = new SpentIds('session', redis, queuePrefix)
  const key = `${queuePrefix}:console:session`
  await ids.spend('past', soon() - 120)
  t.equal(await redis.zcard(key), 0)
  const full = Array.from({ length: maxEntries }, (_, i) => [soon() + i, `${i}`]).flat()
  for (let i = 0; i < full.length; i += 20_000) await redis.zadd(key, ...full.slice(i, i + 20_000))
  t.equal(await ids.spend('last', soon() + 2 * maxEntries), 'spent')
  t.equal(await redis.zcard(key), maxEntries)
  t.equal(await ids.isSpent('0'), false, 'the one that ends first')
  t.equal(await ids.isSpent('last'), true)
  await redis.del(key)
})
