import { sealLink } from '@automation/process/sign-in'
import t from 'tap'
import { openApiInTrouble } from '../fixtures/api-in-trouble.js'
import { type Console, openUpstream, secret, startConsole } from '../fixtures/console.js'
import {
  begin,
  comeBack,
  settingsOf,
  signInWithProvider,
  startProvider,
  visitProvider,
} from '../fixtures/provider.js'

// Each waits for the delay of its console.
t.jobs = 5

/** How many of sixteen guesses at the same time are checked: ten at once and six after a delay, and one less for each that counted before. */
async function countChecked({ ask }: Console): Promise<number> {
  const guess = { method: 'POST', payload: { key: 'guess' } } as const
  const answers = await Promise.all(Array.from({ length: 16 }, () => ask('/session/link', guess)))
  return answers.filter(({ statusCode }) => statusCode === 401).length
}

const wayBack = new URL('http://127.0.0.1:3003/session/oidc/callback?code=guess&state=guess')

t.test('another site that sends a visitor to the way back costs nobody an attempt', async (t) => {
  const upstream = await openUpstream(t)
  const console = await startConsole(t, settingsOf((await startProvider(t)).issuer, upstream.url))
  const answers = await Promise.all(Array.from({ length: 40 }, () => comeBack(console, wayBack, '')))
  for (const { headers } of answers) t.equal(headers.location, '/sign-in?problem=refused')
  t.ok(await signInWithProvider(console))
  t.equal(await countChecked(console), 16)
})

t.test('a response to another question counts for nothing, and leaves the visit under way', async (t) => {
  const upstream = await openUpstream(t)
  const provider = await startProvider(t)
  const console = await startConsole(t, settingsOf(provider.issuer, upstream.url))
  const { target, visit } = await begin(console)
  const answers = await Promise.all(Array.from({ length: 40 }, () => comeBack(console, wayBack, visit)))
  for (const { headers } of answers) {
    t.equal(headers.location, '/sign-in?problem=refused')
    t.notOk(headers['set-cookie'], 'the visit goes on')
  }
  t.equal(provider.tokenRequests(), 0)
  const response = await comeBack(console, await visitProvider(target), visit)
  t.equal(response.headers.location, '/w/1/runs?status=failed')
  t.equal(await countChecked(console), 16)
})

t.test('a wrong code counts', async (t) => {
  const upstream = await openUpstream(t)
  const console = await startConsole(t, settingsOf((await startProvider(t)).issuer, upstream.url))
  const { target, visit } = await begin(console)
  const back = new URL(wayBack)
  back.searchParams.set('state', new URL(target).searchParams.get('state') ?? '')
  const response = await comeBack(console, back, visit)
  t.equal(response.headers.location, '/sign-in?problem=refused')
  t.equal(await countChecked(console), 15)
})

t.test('a provider that cannot check, and a user who declines there, cost no attempt', async (t) => {
  const upstream = await openUpstream(t)
  const provider = await startProvider(t)
  const console = await startConsole(t, settingsOf(provider.issuer, upstream.url))
  const declined = await begin(console)
  const back = new URL('http://127.0.0.1:3003/session/oidc/callback?error=access_denied')
  back.searchParams.set('state', new URL(declined.target).searchParams.get('state') ?? '')
  back.searchParams.set('iss', provider.issuer)
  t.equal((await comeBack(console, back, declined.visit)).headers.location, '/sign-in?problem=refused')
  const { target, visit } = await begin(console)
  provider.breakTokens()
  const response = await comeBack(console, await visitProvider(target), visit)
  t.equal(response.headers.location, '/sign-in?problem=provider-away')
  t.equal(await countChecked(console), 16)
})

t.test('a right token that is too large for the cookie costs no attempt, by any way in', async (t) => {
  const api = await openApiInTrouble(t, (_request, response) => response.writeHead(200).end('{}'))
  const provider = await startProvider(t, { addClaims: () => ({ groups: 'x'.repeat(5_000) }) })
  const console = await startConsole(t, settingsOf(provider.issuer, api.url))
  const { target, visit } = await begin(console)
  const response = await comeBack(console, await visitProvider(target), visit)
  t.equal(response.headers.location, '/sign-in?problem=token-too-large')
  const large = 'x'.repeat(5_000)
  const pasted = await console.ask('/session/token', { method: 'POST', payload: { token: large } })
  t.equal(pasted.statusCode, 401)
  t.same(pasted.json(), { error: 'This token is too large for a cookie.' })
  const key = await sealLink(secret, large, 60)
  const linked = await console.ask('/session/link', { method: 'POST', payload: { key } })
  t.equal(linked.statusCode, 401)
  t.same(linked.json(), { error: 'The token of this link is too large for a cookie.' })
  t.equal(await countChecked(console), 16)
})
