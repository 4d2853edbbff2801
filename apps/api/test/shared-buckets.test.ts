import { newId } from '@automation/database'
import { Redis } from 'ioredis'
import t from 'tap'
import { createSharedBuckets } from '../src/rate-limit/shared-buckets.js'
import { createLocalBuckets, type TokenRequest } from '../src/rate-limit/token-bucket.js'

// One token a minute: no test lasts long enough to get one back, however slow the machine. The test sets the time.
const bucket = { perMinute: 1, burst: 5 }
const minute = 60_000_000

const redis = new Redis(process.env.REDIS_URL ?? '')
t.teardown(() => redis.disconnect())
const prefix = `{${newId()}}:`
const consume = createSharedBuckets(redis, prefix)
const draw = (key: string, tokens: number) => consume({ buckets: [{ key, ...bucket }], tokens })

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
  while (!(await draw(key, 1)).isRefused) count++
  return count
}

t.test('each consumed token delays the time of the full bucket by its interval', async (t) => {
  for (const [key, tokens] of [
    ['one', 1],
    ['three', 3],
    ['all', 5],
  ] as const) {
    const before = await readClock()
    t.strictSame(await draw(key, tokens), { isRefused: false, index: 0, remaining: 5 - tokens, waitMs: 0 })
    const after = await readClock()
    const { fullAt } = await readBucket(key)
    t.ok(fullAt >= before + tokens * minute && fullAt <= after + tokens * minute, `${tokens} tokens`)
    if (tokens === 1) {
      await draw(key, 2)
      t.equal((await readBucket(key)).fullAt, fullAt + 2 * minute, 'and those drawn later add to it')
    }
  }
})

t.test('a bucket is kept until it is full, and then forgotten', async (t) => {
  for (const tokens of [1, 1, 3]) {
    await draw('kept', tokens)
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
  const { waitMs } = await draw('x', 1)
  t.ok(waitMs > 0 && waitMs <= 30_000, `the other half is left to wait: ${waitMs} ms`)
  await age('x', minute / 2)
  t.equal(await drawAll('x'), 1)
  await age('x', 2.5 * minute)
  t.equal(await drawAll('x'), 2)
  await age('x', 100 * minute)
  t.equal(await drawAll('x'), 5, 'it never holds more than the burst')
})

t.test('a refused request consumes no tokens', async (t) => {
  await draw('refused', 4)
  const before = await readBucket('refused')
  const { isRefused, waitMs } = await draw('refused', 2)
  t.equal(isRefused, true)
  t.ok(waitMs > 0 && waitMs <= 60_000, `the second token is a minute away: ${waitMs} ms`)
  t.strictSame(await readBucket('refused'), before)
  t.equal(await drawAll('refused'), 1)
})

const chain = (...buckets: [key: string, burst: number][]) =>
  buckets.map(([key, burst]) => ({ key, perMinute: 1, burst }))

for (const [where, create] of [
  ['Redis', () => consume],
  [
    'one process',
    () => {
      const consumeLocally = createLocalBuckets()
      return async (request: TokenRequest) => consumeLocally(request, 0)
    },
  ],
] as const) {
  t.test(`in ${where} a request consumes from all of its buckets or from none`, async (t) => {
    const take = create()
    const own = (name: string) => ({
      buckets: chain([`${where} ${name}`, 3], [`${where} above`, 4]),
      tokens: 1,
    })
    const { waitMs: _, ...first } = await take(own('a'))
    t.strictSame(first, { isRefused: false, index: 0, remaining: 2 }, 'the own bucket has the fewest left')
    for (const remaining of [1, 0]) t.match(await take(own('a')), { isRefused: false, index: 0, remaining })
    t.match(await take(own('a')), { isRefused: true, index: 0, remaining: 0 })
    t.match(
      await take(own('b')),
      { isRefused: false, index: 1, remaining: 0 },
      'the refused one took nothing',
    )
    t.match(await take(own('b')), { isRefused: true, index: 1, remaining: 0 })
    t.match(await take({ buckets: chain([`${where} b`, 3]), tokens: 2 }), { isRefused: false, remaining: 0 })
  })

  t.test(`in ${where} requests of the same moment are granted in their order`, async (t) => {
    const take = create()
    const request = { buckets: chain([`${where} many`, 9], [`${where} few`, 3]), tokens: 1 }
    const other = { buckets: chain([`${where} other`, 9], [`${where} few`, 3]), tokens: 1 }
    const results = await Promise.all([request, request, other, request, request].map(take))
    t.equal(results.filter(({ isRefused }) => !isRefused).length, 3)
    t.strictSame(
      results.slice(0, 2).map(({ index, isRefused }) => ({ index, isRefused })),
      Array(2).fill({ index: 1, isRefused: false }),
    )
    t.match(results.at(-1), { isRefused: true, index: 1, remaining: 0 })
    t.ok((results.at(-1)?.waitMs ?? 0) > 50_000)
  })
}

t.test('all buckets of all requests of a moment cost one call', async (t) => {
  const calls: string[] = []
  const watched = redis.duplicate()
  t.teardown(() => watched.disconnect())
  const send = watched.sendCommand.bind(watched)
  watched.sendCommand = (command, stream) => {
    calls.push(command.name)
    return send(command, stream)
  }
  const take = createSharedBuckets(watched, prefix)
  await take({ buckets: chain(['warm', 1]), tokens: 1 })
  calls.length = 0
  await Promise.all(
    ['p', 'q', 'r'].map((key) => take({ buckets: chain([key, 5], ['w', 5], ['c', 5]), tokens: 1 })),
  )
  t.strictSame(calls, ['evalsha'])
})
