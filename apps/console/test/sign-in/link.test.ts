import { randomUUID } from 'node:crypto'
import { createBox, sealLink } from '@automation/process/sign-in'
import t from 'tap'
import { type Console, goodToken, readCookiePair, secret, signIn, startConsole } from '../fixtures/console.js'
import { openSlowRedis } from '../fixtures/slow-redis.js'

const redis = () => ({ REDIS_URL: process.env.REDIS_URL ?? '', QUEUE_PREFIX: `{console-${randomUUID()}}` })
const enter = (
  { ask }: Console,
  key: string,
  { cookie = '', ...body }: { cookie?: string; replacesSession?: boolean } = {},
) => ask('/session/link', { method: 'POST', payload: { key, ...body }, headers: { cookie } })
const tokenOf = (sub: string) => `e30.${Buffer.from(JSON.stringify({ sub })).toString('base64url')}.x`

t.test('a link of somebody else asks before it replaces a session, and stays unused', async (t) => {
  const console = await startConsole(t)
  const cookie = await signIn(console, tokenOf('ada'))
  const key = await sealLink(secret, tokenOf('eve'), 60)
  const asked = await enter(console, key, { cookie })
  t.equal(asked.statusCode, 409)
  t.same(asked.json(), {
    error: 'You are signed in as ada. This link signs you out, and signs you in as eve.',
  })
  t.notOk(asked.headers['set-cookie'])
  const wanted = await enter(console, key, { cookie, replacesSession: true })
  t.equal(wanted.statusCode, 204)
  t.match(String(wanted.headers['set-cookie']), /^rules-console-3003=[\w.-]{50}/)
  t.match((await console.ask('/session', { headers: { cookie } })).json(), { isSignedIn: false })
  t.equal((await enter(console, key)).statusCode, 401, 'and is used now')
})

t.test('the question is no failed attempt', async (t) => {
  const console = await startConsole(t)
  const cookie = await signIn(console)
  const key = await sealLink(secret, tokenOf('eve'), 60)
  for (let i = 0; i < 20; i++) t.equal((await enter(console, key, { cookie })).statusCode, 409)
  t.equal((await enter(console, 'wrong')).statusCode, 401, 'at once')
})

t.test('a link of an API key names no key', async (t) => {
  const console = await startConsole(t)
  const cookie = await signIn(console)
  const key = await sealLink(secret, 'ak_secret_of_a_key', 60)
  t.notMatch((await enter(console, key, { cookie })).body, /ak_|good-token/)
})

t.test('with Redis a link works once for all consoles, also after a restart', async (t) => {
  const env = redis()
  const key = await sealLink(secret, goodToken, 60)
  const [first, second] = [await startConsole(t, env), await startConsole(t, env)]
  const answers = await Promise.all([first, second, first, second].map((console) => enter(console, key)))
  t.equal(answers.filter(({ statusCode }) => statusCode === 204).length, 1)
  const restarted = await startConsole(t, env)
  const again = await enter(restarted, key)
  t.equal(again.statusCode, 401)
  t.same(again.json(), { error: 'This link was used before.' })
})

t.test('with Redis signing out ends the session in all consoles', async (t) => {
  const env = redis()
  const [first, second] = [await startConsole(t, env), await startConsole(t, env)]
  const cookie = await signIn(first)
  const isSignedIn = async (console: Console) =>
    (await console.ask('/session', { headers: { cookie } })).json().isSignedIn
  t.equal(await isSignedIn(second), true)
  await first.ask('/session', { method: 'DELETE', headers: { cookie } })
  t.equal(await isSignedIn(second), false)
})

t.test('while Redis is away a link is neither used nor spent, and sessions go on', async (t) => {
  const gone = await startConsole(t, { REDIS_URL: 'redis://127.0.0.1:1' })
  const key = await sealLink(secret, goodToken, 60)
  for (let i = 0; i < 11; i++) {
    const response = await enter(gone, key)
    t.equal(response.statusCode, 503)
    t.equal(response.headers['retry-after'], '5')
    t.match(response.json().error, /^Redis does not respond.* sign in with a token\.$/)
    t.notOk(response.headers['set-cookie'])
  }
  const cookie = await signIn(await startConsole(t))
  t.match((await gone.ask('/session', { headers: { cookie } })).json(), { isSignedIn: true })
  await gone.ask('/session', { method: 'DELETE', headers: { cookie } })
  t.match((await gone.ask('/session', { headers: { cookie } })).json(), { isSignedIn: false })
})

t.test('without Redis a link from before the start of the console does not work', async (t) => {
  const key = await sealLink(secret, goodToken, 60)
  await new Promise((resolve) => setTimeout(resolve, 5))
  const console = await startConsole(t)
  const response = await enter(console, key)
  t.equal(response.statusCode, 401)
  t.match(response.json().error, /^This link is older than the running console/)
  const content = { id: randomUUID(), bearer: goodToken }
  const unmarked = await createBox(secret, 'link').seal(content, Math.floor(Date.now() / 1_000) + 60)
  t.equal((await enter(console, unmarked)).statusCode, 401, 'nor one of an older command line')
})

t.test('two consoles of one host keep their cookies apart', async (t) => {
  const first = await startConsole(t)
  const second = await startConsole(t, { CONSOLE_URL: 'http://127.0.0.1:3004' })
  const key = await sealLink(secret, goodToken, 60)
  const headers = { host: '127.0.0.1:3004' }
  const entered = await second.ask('/session/link', { method: 'POST', payload: { key }, headers })
  const [ofFirst, ofSecond] = [await signIn(first), readCookiePair(entered.headers['set-cookie'])]
  t.not(ofFirst.split('=')[0], ofSecond.split('=')[0])
  const out = await second.ask('/session', { method: 'DELETE', headers: { ...headers, cookie: ofSecond } })
  t.notMatch(String(out.headers['set-cookie']), ofFirst.split('=')[0])
})

t.test('who signed out while Redis did not respond is signed out everywhere afterwards', async (t) => {
  const { REDIS_URL, ...prefix } = redis()
  const slow = await openSlowRedis(t, REDIS_URL)
  const away = await startConsole(t, { REDIS_URL: slow.url, ...prefix })
  const other = await startConsole(t, { REDIS_URL, ...prefix })
  const cookie = await signIn(other)
  const isSignedIn = async () =>
    (await other.ask('/session', { headers: { cookie } })).json().isSignedIn as boolean
  t.equal((await away.ask('/session', { method: 'DELETE', headers: { cookie } })).statusCode, 204)
  t.equal(await isSignedIn(), true, 'nobody else knows it yet')
  slow.begin()
  while (await isSignedIn());
})

t.test('a link that was refused while Redis did not respond works afterwards', async (t) => {
  const { REDIS_URL, ...prefix } = redis()
  const slow = await openSlowRedis(t, REDIS_URL)
  const console = await startConsole(t, { REDIS_URL: slow.url, ...prefix })
  const key = await sealLink(secret, goodToken, 60)
  for (let i = 0; i < 2; i++) t.equal((await enter(console, key)).statusCode, 503)
  slow.begin()
  let response = await enter(console, key)
  while (response.statusCode === 503) response = await enter(console, key)
  t.equal(response.statusCode, 204)
  t.equal((await enter(console, key)).statusCode, 401, 'once')
})
