import { createBox } from '@automation/process/sign-in'
import { decodeJwt } from 'jose'
import t from 'tap'
import { openUpstream, secret, startConsole } from './fixtures/console.js'
import {
  audience,
  begin,
  comeBack,
  findSession,
  settingsOf,
  signInWithProvider,
  startProvider,
  visitProvider,
} from './fixtures/provider.js'

t.test('a user signs in with a real provider, and lands where they wanted to go', async (t) => {
  const upstream = await openUpstream(t)
  const console = await startConsole(t, settingsOf((await startProvider(t)).issuer, upstream.url))
  const { target, visit } = await begin(console)
  const asked = new URL(target).searchParams
  t.match(Object.fromEntries(asked), {
    code_challenge_method: 'S256',
    response_type: 'code',
    resource: audience,
  })
  for (const name of ['state', 'nonce', 'code_challenge']) t.ok((asked.get(name) ?? '').length > 20, name)
  const response = await comeBack(console, await visitProvider(target), visit)
  t.equal(response.statusCode, 302, String(response.headers.location))
  t.equal(response.headers.location, '/w/1/runs?status=failed')
  const session = findSession(response.headers['set-cookie'])
  t.match(session, /HttpOnly; SameSite=Strict/)
  await console.ask('/api/me', { headers: { cookie: session?.split(';')[0] } })
  const bearer = String(upstream.arrivals.at(-1)?.headers.authorization).slice('Bearer '.length)
  t.match(decodeJwt(bearer), { aud: audience, sub: 'ada' }, 'the API gets a token for its audience')
})

t.test('an answer without its question, or for another one, signs nobody in', async (t) => {
  const upstream = await openUpstream(t)
  const console = await startConsole(t, settingsOf((await startProvider(t)).issuer, upstream.url))
  const first = await begin(console)
  const second = await begin(console)
  const back = await visitProvider(first.target)
  for (const [name, cookie] of [
    ['no cookie', ''],
    ['the cookie of another visit', second.visit],
    ['a changed cookie', changeLetter(first.visit)],
  ] as const) {
    const response = await comeBack(console, back, cookie)
    t.equal(response.headers.location, '/sign-in?problem=refused', name)
    t.notOk(findSession(response.headers['set-cookie']), name)
  }
})

t.test('a token that ends is replaced once, for all requests of that moment', async (t) => {
  const upstream = await openUpstream(t)
  // The token ends within the 30 seconds ahead of which it is replaced.
  const console = await startConsole(
    t,
    settingsOf((await startProvider(t, { tokenSeconds: 20 })).issuer, upstream.url),
  )
  const { target, visit } = await begin(console)
  const response = await comeBack(console, await visitProvider(target), visit)
  const cookie = findSession(response.headers['set-cookie'])?.split(';')[0]
  const answers = await Promise.all(
    [1, 2, 3].map((id) => console.ask(`/api/events/${id}`, { headers: { cookie } })),
  )
  const bearers = new Set(upstream.arrivals.map(({ headers }) => headers.authorization))
  t.equal(bearers.size, 1, 'a provider may accept a refresh token once')
  for (const { headers } of answers) t.ok(headers['set-cookie'], 'the browser gets the new token')
})

t.test('while the provider is away, the sign-in says so', async (t) => {
  const console = await startConsole(t, settingsOf('http://127.0.0.1:1', 'http://127.0.0.1:1'))
  t.equal((await begin(console)).target, '/sign-in?problem=provider-away')
})

t.test('a response for another nonce, verifier or state signs nobody in', async (t) => {
  const upstream = await openUpstream(t)
  const console = await startConsole(t, settingsOf((await startProvider(t)).issuer, upstream.url))
  const box = createBox<Record<string, string>>(secret, 'visit')
  for (const part of ['nonce', 'verifier', 'state']) {
    const { target, visit } = await begin(console)
    const back = await visitProvider(target)
    const [name, sealed = ''] = visit.split('=')
    const content = await box.open(sealed)
    if (content === undefined) return t.fail('the cookie does not open')
    const { exp, ...kept } = content
    const changed = await box.seal({ ...kept, [part]: 'x'.repeat(43) }, exp)
    const response = await comeBack(console, back, `${name}=${changed}`)
    t.equal(response.headers.location, '/sign-in?problem=refused', part)
    t.notOk(findSession(response.headers['set-cookie']), part)
  }
})

t.test('a flood of callbacks asks the provider for as many tokens as attempts are checked', async (t) => {
  const upstream = await openUpstream(t)
  const provider = await startProvider(t)
  const console = await startConsole(t, settingsOf(provider.issuer, upstream.url))
  const { target, visit } = await begin(console)
  const state = new URL(target).searchParams.get('state')
  const back = new URL(`http://127.0.0.1:3003/session/oidc/callback?code=guess&state=${state}`)
  const answers = await Promise.all(Array.from({ length: 40 }, () => comeBack(console, back, visit)))
  const problems = answers.map(({ headers }) => String(headers.location).split('=')[1])
  t.equal(problems.filter((problem) => problem === 'refused').length, 16)
  t.equal(problems.filter((problem) => problem === 'too-many-attempts').length, 24)
  t.ok(provider.tokenRequests() <= 16, `${provider.tokenRequests()}`)
})

t.test('twelve users behind one address sign in one after another, without a delay', async (t) => {
  const upstream = await openUpstream(t)
  const console = await startConsole(t, settingsOf((await startProvider(t)).issuer, upstream.url))
  for (let i = 0; i < 12; i++) t.ok(await signInWithProvider(console))
})

/** Not the last letter: not all of its bits count. */
function changeLetter(text: string): string {
  const [start, letter, end] = [text.slice(0, -9), text.at(-9), text.slice(-8)]
  return `${start}${letter === 'A' ? 'B' : 'A'}${end}`
}
