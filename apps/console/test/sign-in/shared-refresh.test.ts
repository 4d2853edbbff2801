import { randomUUID } from 'node:crypto'
import { openRedis } from '@automation/queue/open-redis'
import t from 'tap'
import { SharedRefreshes } from '../../src/sign-in/shared-refreshes.js'
import { until } from '../fixtures/api-in-trouble.js'
import { openUpstream, secret, startConsole } from '../fixtures/console.js'
import { settingsOf, signInWithProvider, startProvider } from '../fixtures/provider.js'

const redisUrl = process.env.REDIS_URL ?? ''

/** Two consoles with one Redis, and a user whose token is replaced at each request by a provider that accepts a refresh token once. */
async function startTwo(t: Parameters<typeof startConsole>[0]) {
  const upstream = await openUpstream(t)
  const provider = await startProvider(t, { tokenSeconds: 20 })
  const prefix = `{console-${randomUUID()}}`
  const env = {
    ...settingsOf(provider.issuer, upstream.url),
    REDIS_URL: redisUrl,
    QUEUE_PREFIX: prefix,
  }
  const consoles = [await startConsole(t, env), await startConsole(t, env)] as const
  const cookie = await signInWithProvider(consoles[0])
  return { upstream, provider, consoles, cookie, prefix, before: provider.tokenRequests() }
}

t.test('two consoles that renew a token at the same time ask the provider once', async (t) => {
  const { upstream, provider, consoles, cookie, before } = await startTwo(t)
  const release = provider.holdTokens()
  const pending = consoles.map(({ ask }) => ask('/api/x', { headers: { cookie } }))
  await until(() => provider.tokenRequests() > before)
  release()
  await Promise.all(pending)
  t.equal(provider.tokenRequests() - before, 1)
  t.equal(upstream.arrivals.length, 2, 'nobody is signed out')
  t.equal(new Set(upstream.arrivals.map(({ headers }) => headers.authorization)).size, 1)
})

t.test(
  'a console uses what another one has renewed, and Redis keeps it sealed and for a minute',
  async (t) => {
    const { upstream, provider, consoles, cookie, prefix, before } = await startTwo(t)
    for (const { ask } of consoles) await ask('/api/x', { headers: { cookie } })
    t.equal(provider.tokenRequests() - before, 1)
    t.equal(upstream.arrivals.length, 2)
    const [first, second] = upstream.arrivals.map(({ headers }) => String(headers.authorization).slice(7))
    t.equal(second, first)
    const redis = openRedis(redisUrl, '{refresh}', 'wait')
    t.teardown(() => redis.disconnect())
    const [key = ''] = await redis.keys(`${prefix}:console:refresh:*`)
    const ttl = await redis.pttl(key)
    t.ok(ttl > 0 && ttl <= 60_000, `${ttl}`)
    t.notMatch(await redis.get(key), first ?? '', 'who reads Redis has no token')
  },
)

t.test('a provider that was away is asked again by the next console', async (t) => {
  const { upstream, provider, consoles, cookie, before } = await startTwo(t)
  const repair = provider.breakTokens()
  await consoles[0].ask('/api/x', { headers: { cookie } })
  t.equal(provider.tokenRequests() - before, 1)
  repair()
  await consoles[1].ask('/api/x', { headers: { cookie } })
  t.equal(provider.tokenRequests() - before, 2)
  t.equal(upstream.arrivals.length, 2)
  const [first, second] = upstream.arrivals.map(({ headers }) => headers.authorization)
  t.not(second, first, 'the second has a new token')
})

t.test('while Redis is away a console renews by itself', async (t) => {
  const upstream = await openUpstream(t)
  const provider = await startProvider(t, { tokenSeconds: 20 })
  const env = { ...settingsOf(provider.issuer, upstream.url), REDIS_URL: 'redis://127.0.0.1:1' }
  const console = await startConsole(t, env)
  const cookie = await signInWithProvider(console)
  const before = provider.tokenRequests()
  await Promise.all([1, 2].map(() => console.ask('/api/x', { headers: { cookie } })))
  t.equal(provider.tokenRequests() - before, 1)
  t.equal(upstream.arrivals.length, 2)
})

t.test('who could not claim a refresh does not replace the result of who did', async (t) => {
  const redis = openRedis(redisUrl, '{refresh}', 'wait')
  t.teardown(() => redis.disconnect())
  const settings = { queuePrefix: `{console-${randomUUID()}}`, secret }
  const set = () => Promise.reject(new Error('Redis is unavailable'))
  const cutOff = new SharedRefreshes(Object.assign(Object.create(redis), { set }), settings)
  const other = new SharedRefreshes(redis, settings)
  const renewed = { bearer: 'new' }
  const late = await cutOff.run('digest', async () => {
    t.same(await other.run('digest', async () => renewed), renewed)
    return 'refused'
  })
  t.equal(late, 'refused', 'its refresh token was used')
  t.match(await other.run('digest', async () => 'away'), renewed)
})
