import { mintToken } from '@automation/access'
import { newId, openPatiently } from '@automation/database'
import { findFreePort, makeTemporaryDirectory, startProduct } from '@automation/launcher'
import { mintLink } from '@automation/process/sign-in'
import t from 'tap'
import { until } from '../fixtures/api-in-trouble.js'
import { secret } from '../fixtures/console.js'

const directory = await makeTemporaryDirectory()
const product = await startProduct({
  directory: directory.path,
  durable: false,
  preparedPostgres: process.env.TEST_POSTGRES,
  env: { LOG_LEVEL: 'fatal' },
})
t.teardown(async () => {
  await product.stop()
  await directory.remove()
})
const port = await findFreePort()
const url = `http://127.0.0.1:${port}`
const settings = { CONSOLE_SECRET: secret, CONSOLE_URL: url, CONSOLE_PORT: `${port}` }
await product.startConsole(settings)
const workspaceId = newId()
const database = openPatiently(product.databaseUrl, 1)
await database.system.workspace.create({
  data: {
    id: workspaceId,
    name: 'Acme',
    plan: 'enterprise',
    members: { create: [{ userId: 'ada', role: 'admin' }] },
  },
})
await database.close()
const bearer = await mintToken({ secret: product.jwtSecret, userId: 'ada', expiresInSeconds: 3_600 })
const makeKey = async () =>
  new URL(await mintLink({ consoleUrl: url, secret, bearer, lifetimeSeconds: 60 })).hash.slice(1)

/** Asks as the page does. */
async function ask(path: string, { cookie = '', body }: { cookie?: string; body?: object } = {}) {
  const response = await fetch(url + path, {
    headers: {
      cookie,
      origin: url,
      'x-workspace-id': workspaceId,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  }
}

const entered = await ask('/session/link', { body: { key: await makeKey() } })
const cookie = entered.headers.getSetCookie()[0]?.split(';')[0] ?? ''
const trigger = '/api/automation-rules/trigger/LEAD_CREATED'
const isReady = async () => (await ask('/readyz')).status === 200

t.test(
  'Redis away: events are accepted, links are not used up, a token signs in, sessions go on',
  async (t) => {
    await product.redis?.stop()
    const key = await makeKey()
    const refused = await ask('/session/link', { body: { key } })
    t.equal(refused.status, 503)
    t.equal(refused.headers.get('retry-after'), '5')
    t.same(refused.body, {
      error:
        'Redis does not respond, so the console cannot know whether this link was used. Try again in a moment, or sign in with a token.',
    })
    t.equal((await ask('/session/token', { body: { token: bearer } })).status, 204)
    t.match((await ask('/api/me', { cookie })).body, { userId: 'ada' })
    t.equal((await ask(trigger, { cookie, body: { data: {} } })).status, 202)
    await product.restartRedis()
    const enter = async () => (await ask('/session/link', { body: { key } })).status
    let status = await enter()
    while (status === 503) status = await enter()
    t.equal(status, 204)
  },
)

t.test('Postgres away: the API says so through the console, and the session outlasts it', async (t) => {
  await product.postgres?.stop()
  const response = await ask('/api/automation-rules', { cookie })
  t.equal(response.status, 503)
  t.same(response.body, { error: 'Service temporarily unavailable' })
  t.ok(Number(response.headers.get('retry-after')) > 0)
  const token = await ask('/session/token', { body: { token: bearer } })
  t.equal(token.status, 503)
  t.same(token.body, { error: 'The API does not respond. Try again in a moment.' })
  await until(async () => (await ask('/readyz')).status === 503)
  t.same((await ask('/readyz')).body, { status: 'unready', api: 'away' })
  t.same((await ask('/healthz')).body, { status: 'ok' })
  t.match((await ask('/session', { cookie })).body, { isSignedIn: true })
  await product.restartPostgres()
  await until(isReady)
  await until(async () => (await ask('/api/automation-rules', { cookie })).status === 200)
})

t.test('API away: the console says so, serves its page, and goes on when the API is back', async (t) => {
  const [api] = product.apis
  const apiPort = new URL(api?.baseUrl ?? '').port
  await api?.stop()
  const response = await ask('/api/me', { cookie })
  t.equal(response.status, 503)
  t.equal(response.headers.get('retry-after'), '2')
  t.same(response.body, { error: 'The API does not respond. Try again in a moment.' })
  t.equal((await ask('/session/token', { body: { token: bearer } })).status, 503)
  t.equal((await fetch(`${url}/w/${workspaceId}/today`)).status, 200)
  t.equal((await ask('/session/link', { body: { key: await makeKey() } })).status, 204, 'a link needs no API')
  await product.startApi({ PORT: apiPort })
  await until(isReady)
  t.equal((await ask('/api/me', { cookie })).status, 200)
})
