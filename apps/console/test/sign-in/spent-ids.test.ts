import { randomUUID } from 'node:crypto'
import { openRedis } from '@automation/queue/open-redis'
import t from 'tap'
import { maxEntries, SpentIds } from '../../src/sign-in/spent-ids.js'

const redisUrl = process.env.REDIS_URL ?? ''
const soon = () => Math.floor(Date.now() / 1_000) + 60

t.test('an id is spent once, in one process and among several', async (t) => {
  const queuePrefix = `{console-${randomUUID()}}`
  for (const url of [undefined, redisUrl]) {
    const first = new SpentIds('link', { redisUrl: url, queuePrefix })
    const second = url ? new SpentIds('link', { redisUrl: url, queuePrefix }) : first
    const other = new SpentIds('session', { redisUrl: url, queuePrefix })
    t.teardown(() => [first, second, other].map((one) => one.close()))
    const results = await Promise.all([first, second, first, second].map((one) => one.spend('a', soon())))
    t.strictSame(results.sort(), ['spent', 'was-spent', 'was-spent', 'was-spent'])
    t.equal(await second.isSpent('a'), true)
    t.equal(await second.isSpent('b'), false)
    t.equal(await other.spend('a', soon()), 'spent', 'links and sessions are kept apart')
  }
})

t.test('ids that have expired, and those beyond a limit, are forgotten in Redis', async (t) => {
  const queuePrefix = `{console-${randomUUID()}}`
  const redis = openRedis(redisUrl, 'fail fast')
  const ids = new SpentIds('session', { redisUrl, queuePrefix })
  t.teardown(() => {
    ids.close()
    redis.disconnect()
  })
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
