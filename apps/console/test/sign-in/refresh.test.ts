import { createBox } from '@automation/process/sign-in'
import t from 'tap'
import { until } from '../fixtures/api-in-trouble.js'
import { goodToken, openUpstream, readCookiePair, secret, startConsole } from '../fixtures/console.js'
import { findSession, settingsOf, signInWithProvider, startProvider } from '../fixtures/provider.js'

/** The token is replaced 30 s before its end: at each request. */
const tokenSeconds = 20

t.test('a refresh under way does not revive a session whose user signs out', async (t) => {
  const upstream = await openUpstream(t)
  const provider = await startProvider(t, { tokenSeconds })
  const console = await startConsole(t, settingsOf(provider.issuer, upstream.url))
  const cookie = await signInWithProvider(console)
  const before = provider.tokenRequests()
  const release = provider.holdTokens()
  const pending = console.ask('/api/x', { headers: { cookie } })
  await until(() => provider.tokenRequests() > before)
  const out = await console.ask('/session', { method: 'DELETE', headers: { cookie } })
  t.equal(out.statusCode, 204)
  release()
  const late = await pending
  t.equal(late.statusCode, 401)
  t.match(findSession(late.headers['set-cookie']), /^rules-console-3003=; .*Max-Age=0/)
  t.same(upstream.arrivals, [], 'nothing is asked with the new token')
})

t.test('a cookie that arrives after the sign-out, or was copied before, is no session', async (t) => {
  const upstream = await openUpstream(t)
  const provider = await startProvider(t, { tokenSeconds })
  const console = await startConsole(t, settingsOf(provider.issuer, upstream.url))
  const cookie = await signInWithProvider(console)
  const renewed = readCookiePair((await console.ask('/api/x', { headers: { cookie } })).headers['set-cookie'])
  t.not(renewed, cookie)
  await console.ask('/session', { method: 'DELETE', headers: { cookie } })
  for (const one of [cookie, renewed]) {
    t.equal((await console.ask('/api/x', { headers: { cookie: one } })).statusCode, 401)
    t.match((await console.ask('/session', { headers: { cookie: one } })).json(), { isSignedIn: false })
  }
})

t.test('a renewed token that is too large for the cookie ends the session with a sentence', async (t) => {
  const upstream = await openUpstream(t)
  let claims = {}
  const provider = await startProvider(t, { tokenSeconds, addClaims: () => claims })
  const console = await startConsole(t, settingsOf(provider.issuer, upstream.url))
  const cookie = await signInWithProvider(console)
  claims = { groups: 'x'.repeat(5_000) }
  const response = await console.ask('/api/x', { headers: { cookie } })
  t.equal(response.statusCode, 401)
  t.match(response.json().error, /too large for a cookie. Sign in again/)
  t.match(findSession(response.headers['set-cookie']), /^rules-console-3003=; .*Max-Age=0/)
  t.same(upstream.arrivals, [])
})

t.test('while the provider is away, a token serves until its end, and then the session waits', async (t) => {
  const upstream = await openUpstream(t)
  const console = await startConsole(t, settingsOf('http://127.0.0.1:1', upstream.url))
  const now = Math.floor(Date.now() / 1_000)
  const ask = async (bearerExpiresAt: number) => {
    const content = { id: `${bearerExpiresAt}`, bearer: goodToken, refreshToken: 'r', bearerExpiresAt }
    const sealed = await createBox(secret, 'session').seal(content, now + 600)
    return console.ask('/api/x', { headers: { cookie: `rules-console-3003=${sealed}` } })
  }
  t.equal((await ask(now + 15)).statusCode, 200)
  const waiting = await ask(now - 1)
  t.equal(waiting.statusCode, 503)
  t.same(waiting.json(), { error: 'Your identity provider does not respond. Try again in a moment.' })
  t.equal(waiting.headers['retry-after'], '5')
  t.notOk(waiting.headers['set-cookie'], 'the session goes on when the provider is back')
})
