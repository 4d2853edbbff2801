import t, { type Test } from 'tap'
import { ApiError } from '../src/api-error.js'
import { createClient } from '../src/create-client.js'
import { openFlakyServer, type Turn } from './fixtures/flaky-server.js'

// Responses of proxies and gateways between the client and the API.

/** What browsers make of a redirect that is not to be followed. */
const browserFetch: typeof fetch = async (url, init) => {
  const response = await fetch(url, init)
  if (response.status < 300 || response.status >= 400) return response
  const hidden = { type: 'opaqueredirect', status: 0, headers: new Headers(), text: async () => '' }
  return hidden as unknown as Response
}

t.test('a redirect is an ApiError, in browsers too', async (t) => {
  const turn = { status: 302, headers: { location: 'https://sso.example.com/' } }
  const { baseUrl, asked } = await openFlakyServer(t, [], turn)
  t.match(await failureOf(createClient({ baseUrl }).rules.health()), {
    name: 'ApiError',
    status: 302,
    message: 'Not a response of the API: 302 (a redirect to https://sso.example.com/)',
  })
  t.match(await failureOf(createClient({ baseUrl, fetch: browserFetch }).rules.health()), {
    name: 'ApiError',
    status: 302,
    message: 'Not a response of the API: 302 (a redirect)',
  })
  t.equal(asked.length, 2, 'no redirect is repeated')
})

t.test('a refusal in a shape of another service is an ApiError with a message', async (t) => {
  const bodies = [
    { errors: {} },
    { errors: 'x' },
    { errors: [] },
    { errors: [null, 1] },
    { error: { code: 403 } },
    { error: 403 },
    { error: '' },
    null,
    'x',
    [1],
  ]
  for (const body of bodies) {
    const { error } = await askOnce(t, { status: 403, body })
    t.match(error, { name: 'ApiError', status: 403, errors: undefined }, JSON.stringify(body))
    t.equal((error as Error).message, 'Not a response of the API: 403')
  }
})

t.test('a 503 in a shape of another service is repeated', async (t) => {
  for (const body of [{ errors: {} }, { errors: 'x' }, { error: { code: 503 } }, null]) {
    const { error, asked } = await askOnce(t, { status: 503, body })
    t.equal(error, undefined, JSON.stringify(body))
    t.equal(asked.length, 2)
  }
})

t.test('a success without a JSON object is an ApiError', async (t) => {
  for (const turn of [
    { status: 200 },
    { status: 200, body: null },
    { status: 200, body: 'ok' },
    { status: 200, body: [] },
    { status: 204 },
    { status: 206, body: {} },
  ]) {
    const { error } = await askOnce(t, turn)
    t.ok(error instanceof ApiError, JSON.stringify(turn))
    t.equal((error as Error).message, `Not a response of the API: ${turn.status}`)
  }
})

t.test('a batch whose response has no result for each event is an ApiError', async (t) => {
  for (const results of [undefined, {}, [], [null], [{}]]) {
    const { baseUrl } = await openFlakyServer(t, [], { status: 202, body: { results } })
    const error = await failureOf(createClient({ baseUrl }).triggerBatch('LEAD_CREATED', [{ data: {} }]))
    t.match(error, { name: 'BatchError', status: 202, accepted: 0 }, JSON.stringify(results))
  }
})

t.test('anything that a fetch throws is an ApiError', async (t) => {
  for (const thrown of [undefined, null, 'no', 0]) {
    const fetch = () => Promise.reject(thrown)
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', fetch, retries: 0 })
    t.match(await failureOf(client.rules.health()), { name: 'ApiError', status: 0 })
  }
})

t.test('a Retry-After with a date is compared with the date of the response', async (t) => {
  const headers = { date: 'Mon, 01 Jan 2001 00:00:00 GMT', 'retry-after': 'Mon, 01 Jan 2001 01:00:00 GMT' }
  const { error } = await askOnce(t, { status: 429, headers })
  t.match(error, { status: 429, retryAfterSeconds: 3_600 })
})

/** The outcome of a request whose first attempt gets this response. */
async function askOnce(t: Test, turn: Turn) {
  const { baseUrl, asked } = await openFlakyServer(t, [turn])
  return { error: await failureOf(createClient({ baseUrl }).rules.health()), asked }
}

function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}
