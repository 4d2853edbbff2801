import { gunzipSync } from 'node:zlib'
import { newId } from '@automation/database'
import t from 'tap'
import { type Answer, ruleBody, rules, startApi } from './fixtures/api.js'

const api = await startApi(t)
const workspace = await api.makeWorkspace()
const path = `${rules}?limit=20`
for (let made = 0; made < 5; made++) await workspace.call('POST', rules, { body: ruleBody() })
const long = 'x'.repeat(3_000)

/** As `inject` reads it, a compressed body is no JSON. */
async function ask(method: 'GET' | 'HEAD' | 'POST', url: string, encoding?: string, body?: object) {
  const { statusCode, headers, rawPayload } = await api.app.inject({
    method,
    url,
    headers: {
      authorization: `Bearer ${workspace.tokens.admin}`,
      'x-workspace-id': workspace.id,
      ...(encoding !== undefined && { 'accept-encoding': encoding }),
    },
    ...(body && { payload: body }),
  })
  return { statusCode, headers, rawPayload }
}

const types = '/api/event-types'
const lists = { 'sent as a text': types, 'sent while it is read': path }

for (const [how, path] of Object.entries(lists))
  t.test(`a list ${how} is compressed for a client that accepts gzip`, async (t) => {
    const plain = await ask('GET', path)
    t.notOk('content-encoding' in plain.headers)
    t.equal(plain.headers.vary, 'accept-encoding', 'a cache keeps the two apart')
    for (const encoding of ['gzip', 'br, gzip;q=0.5']) {
      const { statusCode, headers, rawPayload } = await ask('GET', path, encoding)
      t.equal(statusCode, 200)
      t.match(headers, {
        vary: 'accept-encoding',
        'content-encoding': 'gzip',
        'content-type': 'application/json; charset=utf-8',
      })
      t.ok(rawPayload.length < plain.rawPayload.length / 3)
      t.same(gunzipSync(rawPayload), plain.rawPayload)
    }
    for (const encoding of ['', 'br', 'identity', 'gzip;q=0'])
      t.same((await ask('GET', path, encoding)).rawPayload, plain.rawPayload, encoding)

    for (const encoding of ['gzip', 'identity']) {
      const { headers } = await ask('GET', path, encoding)
      const head = await ask('HEAD', path, encoding)
      t.equal(head.rawPayload.length, 0)
      for (const name of ['content-length', 'content-encoding', 'vary'])
        t.equal(head.headers[name], headers[name], `HEAD says what GET would: ${encoding} ${name}`)
    }
  })

t.test('a short response is sent as it is', async (t) => {
  const { headers } = await ask('GET', '/api/tasks', 'gzip')
  t.match(headers, { vary: 'accept-encoding', 'content-encoding': undefined })
  const refused = await ask('GET', `${rules}/${newId()}`, 'gzip')
  t.match(refused, { statusCode: 404, headers: { 'content-encoding': undefined } })
})

t.test('an ETag names the state, whichever way it was sent', async (t) => {
  const vocabulary = '/api/vocabulary'
  const { headers } = await ask('GET', vocabulary, 'gzip')
  t.equal(headers['content-encoding'], 'gzip')
  t.equal((await ask('GET', vocabulary)).headers.etag, headers.etag)
  const { status, headers: known } = await workspace.call('GET', vocabulary, {
    headers: { 'if-none-match': String(headers.etag), 'accept-encoding': 'gzip' },
  })
  t.match(
    { status, known },
    { status: 304, known: { vary: 'accept-encoding', 'content-encoding': undefined } },
  )

  const { body } = await workspace.call<{ id: string }>('POST', '/api/email-templates', {
    body: { name: `Long ${newId()}`, text: long },
  })
  const template = `/api/email-templates/${body.id}`
  const read = await ask('GET', template, 'gzip')
  t.equal(read.headers['content-encoding'], 'gzip')
  const changed = await workspace.call('PATCH', template, {
    body: { text: 'y' },
    headers: { 'if-match': String(read.headers.etag) },
  })
  t.equal(changed.status, 200)
})

t.test('what shows a new secret is not compressed, however much its caller wrote beside it', async (t) => {
  const made: Answer = await workspace.call('POST', '/api/email-templates', {
    body: { name: `Secret ${newId()}`, text: long },
    headers: { 'accept-encoding': 'gzip' },
  })
  t.match(made, { status: 201, body: { text: long } })
  const key = await ask('POST', '/api/developer/v1/api-keys', 'gzip', {
    name: 'x'.repeat(200),
    scopes: ['rules:read'],
  })
  t.match(key.headers, { vary: undefined, 'content-encoding': undefined })
  t.equal(key.statusCode, 201)
})
