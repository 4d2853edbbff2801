import { newId } from '@automation/database'
import { Redis } from 'ioredis'
import t from 'tap'
import { createSharedBuckets } from '../src/rate-limit/shared-buckets.js'

// One token a minute: no test lasts long enough to get one back, however slow the machine. The test sets the time.
const bucket = { perMinute: 1, burst: 5 }
const minute = 60_000_000

const redis = new Redis(process.env.REDIS_URL ?? '')
t.teardown(() => redis.disconnect())
const prefix = `{${newId()}}:`
const draw = createSharedBuckets(redis, prefix)

/** Redis' own clock, in microseconds. */
async function readClock(): Promise<number> {
  const [seconds, microseconds] = await redis.time()
  return Number(seconds) * 1_000_000 + Number(microseconds)
}

/** What is kept of a bucket: when it is full, and when it is forgotten, in microseconds. */
async function readBucket(key: string): Promise<{ fullAt: number; forgottenAt: number }> {
  const [fullAt, forgottenAt] = await Promise.all([redis.get(prefix + key), redis.pexpiretime(prefix + key)])
  return { fullAt: Number(fullAt), forgottenAt: forgottenAt * 1_000 }
}

/** Lets time go by for one bucket. */
async function age(key: string, microseconds: number): Promise<void> {
  const { fullAt } = await readBucket(key)
  await redis.set(prefix + key, fullAt - microseconds, 'KEEPTTL')
}

/** Draws single tokens until one is refused. Answers how many were granted. */
async function drawAll(key: string): Promise<number> {
  let count = 0
  while (!(await draw({ key, bucket, tokens: 1 })).isRefused) count++
  return count
}

t.test('each consumed token delays the time of the full bucket by its interval', async (t) => {
  for (const [key, tokens] of [
    ['one', 1],
    ['three', 3],
    ['all', 5],
  ] as const) {
    const before = await readClock()
    t.strictSame(await draw({ key, bucket, tokens }), { isRefused: false, remaining: 5 - tokens, waitMs: 0 })
    const after = await readClock()
    const { fullAt } = await readBucket(key)
    t.ok(fullAt >= before + tokens * minute && fullAt <= after + tokens * minute, `${tokens} tokens`)
    if (tokens === 1) {
      await draw({ key, bucket, tokens: 2 })
      t.equal((await readBucket(key)).fullAt, fullAt + 2 * minute, 'and those drawn later add to it')
    }
  }
})

t.test('a bucket is kept until it is full, and then forgotten', async (t) => {
  for (const tokens of [1, 1, 3]) {
    await draw({ key: 'kept', bucket, tokens })
    const { fullAt, forgottenAt } = await readBucket('kept')
    t.ok(forgottenAt >= fullAt, `not before: ${forgottenAt - fullAt} microseconds after it`)
    t.ok(forgottenAt <= fullAt + 5_000, 'nor much later')
  }
})

t.test('a token returns after its interval, and not earlier', async (t) => {
  t.equal(await drawAll('x'), 5)
  t.equal(await drawAll('x'), 0)
  await age('x', minute / 2)
  t.equal(await drawAll('x'), 0, 'half an interval brings none')
  const { waitMs } = await draw({ key: 'x', bucket, tokens: 1 })
  t.ok(waitMs > 0 && waitMs <= 30_000, `the other half is left to wait: ${waitMs} ms`)
  await age('x', minute / 2)
  t.equal(await drawAll('x'), 1)
  await age('x', 2.5 * minute)
  t.equal(await drawAll('x'), 2)
  await age('x', 100 * minute)
  t.equal(await drawAll('x'), 5, 'it never holds more than the burst')
})

t.test('a refused request consumes no tokens', async (t) => {
  await draw({ key: 'refused', bucket, tokens: 4 })
  const before = await readBucket('refused')
  const { isRefused, waitMs } = await draw({ key: 'refused', bucket, tokens: 2 })
  t.equal(isRefused, true)
  t.ok(waitMs > 0 && waitMs <= 60_000, `the second token is a minute away: ${waitMs} ms`)
  t.strictSame(await readBucket('refused'), before)
  t.equal(await drawAll('refused'), 1)
})
