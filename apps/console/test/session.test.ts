import { createBox, sealLink } from '@automation/process/sign-in'
import t from 'tap'
import { goodToken, openUpstream, readCookiePair, secret, signIn, startConsole } from './fixtures/console.js'

t.test('the cookie is out of reach of scripts and other sites, and ends with the session', async (t) => {
  const { ask } = await startConsole(t)
  const key = await sealLink(secret, goodToken, 60)
  const response = await ask('/session/link', { method: 'POST', payload: { key } })
  t.match(
    String(response.headers['set-cookie']),
    /^rules-console-3003=[\w.-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
  )
  t.notMatch(String(response.headers['set-cookie']), goodToken)
})

t.test('under https the cookie has the prefix __Host- and is Secure', async (t) => {
  const { ask } = await startConsole(t, { CONSOLE_URL: 'https://console.example' })
  const key = await sealLink(secret, goodToken, 60)
  const headers = { host: 'console.example' }
  const response = await ask('/session/link', { method: 'POST', payload: { key }, headers })
  t.match(
    String(response.headers['set-cookie']),
    /^__Host-rules-console-443=.*; HttpOnly; SameSite=Strict; Secure$/,
  )
  t.match(String(response.headers['strict-transport-security']), 'max-age=')
})

t.test('a cookie with any changed character is no session', async (t) => {
  const upstream = await openUpstream(t)
  const console = await startConsole(t, { CONSOLE_API_URL: upstream.url })
  const cookie = await signIn(console)
  t.equal((await console.ask('/api/x', { headers: { cookie } })).statusCode, 200)
  const begin = cookie.indexOf('=') + 1
  for (let index = begin; index < cookie.length; index++) {
    // The last character of a part may carry bits that base64 ignores.
    const isPadding = index === cookie.length - 1 || cookie[index + 1] === '.'
    if (cookie[index] === '.' || isPadding) continue
    const changed = `${cookie.slice(0, index)}${cookie[index] === 'A' ? 'B' : 'A'}${cookie.slice(index + 1)}`
    const { statusCode } = await console.ask('/api/x', { headers: { cookie: changed } })
    if (statusCode !== 401) t.fail(`character ${index} was changed, and the response was ${statusCode}`)
  }
})

t.test('a session of another secret, purpose or time is none', async (t) => {
  const upstream = await openUpstream(t)
  const { ask } = await startConsole(t, { CONSOLE_API_URL: upstream.url })
  const soon = Math.floor(Date.now() / 1_000) + 60
  const content = { id: 'one', bearer: goodToken }
  const other = 'another secret of tests that is just as long'
  for (const [name, sealed, status] of [
    ['right', await createBox(secret, 'session').seal(content, soon), 200],
    ['other secret', await createBox(other, 'session').seal(content, soon), 401],
    ['a link', await sealLink(secret, goodToken, 60), 401],
    ['past', await createBox(secret, 'session').seal(content, soon - 120), 401],
    ['garbage', 'garbage', 401],
  ] as const)
    t.equal(
      (await ask('/api/x', { headers: { cookie: `rules-console-3003=${sealed}` } })).statusCode,
      status,
      name,
    )
})

t.test('after a rotation, sessions of the old secret go on', async (t) => {
  const upstream = await openUpstream(t)
  const before = await startConsole(t, { CONSOLE_API_URL: upstream.url })
  const cookie = await signIn(before)
  const CONSOLE_SECRET = `the next secret of tests that is just as long,${secret}`
  const after = await startConsole(t, { CONSOLE_API_URL: upstream.url, CONSOLE_SECRET })
  t.equal((await after.ask('/api/x', { headers: { cookie } })).statusCode, 200)
})

t.test('a session does not outlive its token', async (t) => {
  const { ask } = await startConsole(t)
  const exp = Math.floor(Date.now() / 1_000) + 600
  const token = `e30.${Buffer.from(JSON.stringify({ exp })).toString('base64url')}.x`
  const key = await sealLink(secret, token, 60)
  const response = await ask('/session/link', { method: 'POST', payload: { key } })
  const maxAge = Number(/Max-Age=(\d+)/.exec(String(response.headers['set-cookie']))?.[1])
  t.ok(maxAge > 500 && maxAge <= 600, `${maxAge}`)
})

t.test('a link works once, but a second click in the same browser is no error', async (t) => {
  const { ask } = await startConsole(t)
  const key = await sealLink(secret, goodToken, 60)
  const enter = (headers = {}) => ask('/session/link', { method: 'POST', payload: { key }, headers })
  const first = await enter()
  t.equal(first.statusCode, 204)
  const second = await enter()
  t.equal(second.statusCode, 401)
  t.same(second.json(), { error: 'This link was used before.' })
  t.notOk(second.headers['set-cookie'])
  t.equal((await enter({ cookie: readCookiePair(first.headers['set-cookie']) })).statusCode, 204)
})

t.test('of many clicks at a time on one link, one signs in', async (t) => {
  const { ask } = await startConsole(t)
  const key = await sealLink(secret, goodToken, 60)
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => ask('/session/link', { method: 'POST', payload: { key } })),
  )
  t.equal(answers.filter(({ statusCode }) => statusCode === 204).length, 1)
})

t.test('a link of the past, of another console or of a stranger does not work', async (t) => {
  const { ask } = await startConsole(t)
  for (const key of [
    await sealLink(secret, goodToken, -1),
    await sealLink('another secret of tests that is just as long', goodToken, 60),
    'eyJhbGciOiJub25lIn0.e30.',
    '',
  ])
    t.equal((await ask('/session/link', { method: 'POST', payload: { key } })).statusCode, 401)
})

t.test('a pasted token is checked by the API before there is a session', async (t) => {
  const upstream = await openUpstream(t)
  const { ask } = await startConsole(t, { CONSOLE_API_URL: upstream.url })
  const enter = (token: string) => ask('/session/token', { method: 'POST', payload: { token } })
  const good = await enter(` ${goodToken}\n`)
  t.equal(good.statusCode, 204)
  t.equal(upstream.arrivals.at(-1)?.url, '/api/me')
  const cookie = readCookiePair(good.headers['set-cookie'])
  t.match((await ask('/session', { headers: { cookie } })).json(), { isSignedIn: true })
  for (const token of ['wrong', 'two words', 'ü']) {
    const { statusCode, headers } = await enter(token)
    t.equal(statusCode, 401, token)
    t.notOk(headers['set-cookie'])
  }
  t.equal((await enter('')).statusCode, 400)
})

t.test('after ten failures of all ways in a client is delayed, and the right key passes', async (t) => {
  const { ask } = await startConsole(t)
  const enter = (key: string) => ask('/session/link', { method: 'POST', payload: { key } })
  for (let count = 0; count < 9; count++) t.equal((await enter('wrong')).statusCode, 401)
  const token = 'two words'
  t.equal((await ask('/session/token', { method: 'POST', payload: { token } })).statusCode, 401)
  const key = await sealLink(secret, goodToken, 60)
  const startedAt = performance.now()
  const responses = await Promise.all([key, ...Array.from({ length: 6 }, () => 'wrong')].map(enter))
  t.ok(performance.now() - startedAt > 2_900)
  t.strictSame(
    responses.map(({ statusCode }) => statusCode),
    [204, 401, 401, 401, 401, 401, 429],
  )
  t.equal(responses.at(-1)?.headers['retry-after'], '3')
})

t.test('signing out removes the cookie', async (t) => {
  const { ask } = await startConsole(t)
  const response = await ask('/session', { method: 'DELETE' })
  t.match(String(response.headers['set-cookie']), /^rules-console-3003=; .*Max-Age=0/)
})
