import { createHmac } from 'node:crypto'
import { newId } from '@automation/database'
import t from 'tap'
import { startApi } from './fixtures/api.js'
import { makeProvider } from './fixtures/provider.js'

const api = await startApi(t)
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const receiptsOf = async (workspace: Awaited<ReturnType<typeof api.makeWorkspace>>) =>
  (await workspace.call<{ data: object[] }>('GET', '/api/developer/v1/webhook-receipts')).body.data

t.test(
  'Zoom gets its challenge signed, if its own signature is right and the challenge is a token',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const zoom = await makeProvider(api, workspace, 'zoom')
    const ask = (plainToken: string) =>
      JSON.stringify({ payload: { plainToken }, event_ts: 1, event: 'endpoint.url_validation' })
    const body = ask('qgg8vlvZRS6UYooatFL8Aw')
    const encryptedToken = createHmac('sha256', zoom.secret).update('qgg8vlvZRS6UYooatFL8Aw').digest('hex')
    t.match(await zoom.deliver({ body }), {
      status: 200,
      headers: { 'content-type': /^application\/json/ },
      body: { plainToken: 'qgg8vlvZRS6UYooatFL8Aw', encryptedToken },
    })
    t.match(await receiptsOf(workspace), [
      {
        handshake: true,
        eventTypes: { length: 0 },
        verified: true,
        idempotencyKey: /^challenge:[0-9a-f]{64}$/,
      },
    ])
    t.equal(await workspace.database.event.count(), 0)

    const unsigned = { 'x-zm-signature': undefined, 'x-zm-request-timestamp': undefined }
    for (const headers of [{ 'x-zm-signature': 'v0=00' }, { 'x-zm-request-timestamp': '1' }]) {
      const refused = await zoom.deliver({ body, headers })
      t.equal(refused.status, 401)
      t.notMatch(JSON.stringify(refused.body), /encryptedToken/)
    }
    t.equal((await zoom.deliver({ body, headers: unsigned })).status, 400, 'it has no header of a signature')
    const free = await zoom.deliver({ body: ask('v0:1789000000:{}') })
    t.match(
      free,
      { status: 202, body: { receiptState: 'accepted' } },
      'a free text is data, and is not signed',
    )
    t.notMatch(JSON.stringify(free.body), /encryptedToken/)
  },
)

t.test(
  'Zoom repeats a webhook later, under another time or the same, and it is known by its body',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const zoom = await makeProvider(api, workspace, 'zoom')
    const secondsAgo = (seconds: number) => String(Math.floor(Date.now() / 1_000) - seconds)
    const body = JSON.stringify({ event: 'meeting.ended', event_ts: 1_795_886_704_123, payload: {} })
    const first = await zoom.deliver({ body, timestamp: secondsAgo(301) })
    t.match(first, { status: 202, body: { deduplicated: false } }, 'nothing was there when it came first')
    for (const seconds of [0, 25 * 60, 85 * 60, 2 * 3600 - 60])
      t.match(
        await zoom.deliver({ body, timestamp: secondsAgo(seconds) }),
        { status: 200, body: { id: first.body.id, deduplicated: true } },
        `${seconds} s`,
      )
    for (const seconds of [2 * 3600 + 60, -360])
      t.match(await zoom.deliver({ body, timestamp: secondsAgo(seconds) }), { status: 401 }, `${seconds} s`)
    t.equal(await workspace.database.event.count(), 1)
    t.equal((await zoom.deliver({ body: body.replace('123', '124') })).status, 202, 'another moment')
  },
)

t.test('Meta gets its challenge for the right token, and everybody else the same 401', async (t) => {
  const workspace = await api.makeWorkspace()
  const verifyToken = 'a-token-of-ours'
  const meta = await makeProvider(api, workspace, 'meta', { verifyToken })
  await makeProvider(api, workspace, 'github')
  const ask = (token: string, challenge: string, path = meta.path) =>
    api.call<string>(
      'GET',
      `${path}?hub.mode=subscribe&hub.challenge=${challenge}&hub.verify_token=${token}`,
      {
        headers: {},
      },
    )
  t.match(await ask(verifyToken, '1158201444'), {
    status: 200,
    headers: { 'content-type': /^text\/plain/ },
    body: '1158201444',
  })
  t.equal((await ask(verifyToken, '1158201444')).body, '1158201444', 'and again')
  t.match(await receiptsOf(workspace), [
    {
      handshake: true,
      verified: true,
      provider: 'meta',
      eventTypes: { length: 0 },
      idempotencyKey: /^challenge:[0-9a-f]{64}$/,
    },
  ])

  const wrong = await ask('another-token', '1158201444')
  t.match(wrong, { status: 401, body: { error: 'Authentication required' } })
  const others = [
    await ask('', '1158201444'),
    await ask(verifyToken, '%3Cscript%3E'),
    await ask(verifyToken, 'x'.repeat(65)),
    await ask(verifyToken, ''),
    await ask(verifyToken, '1', `/api/incoming-webhooks/nobody/${workspace.id}`),
    await ask(verifyToken, '1', `/api/incoming-webhooks/github/${workspace.id}`),
    await ask(verifyToken, '1', `/api/incoming-webhooks/meta/${newId()}`),
    await ask(verifyToken, '1', '/api/incoming-webhooks/meta/no-uuid'),
    await ask(verifyToken, '1', '/api/incoming-webhooks/%00/no-uuid'),
  ]
  for (const { status, body } of others) t.strictSame({ status, body }, { status: 401, body: wrong.body })
  t.equal((await receiptsOf(workspace)).length, 1, 'nothing else has a receipt')
  t.equal(await workspace.database.webhookRejection.count(), 0)
  t.match(await api.call('GET', meta.path, { headers: {} }), { status: 405, headers: { allow: 'POST' } })
  t.equal((await api.call('HEAD', `${meta.path}?hub.mode=subscribe`, { headers: {} })).status, 405)

  t.equal((await meta.deliver({ body: '{"object":"page"}' })).status, 202, 'it signs in the header of GitHub')
  await workspace.database.signingSecret.updateMany({ data: { revokedAt: new Date() } })
  t.equal((await ask(verifyToken, '1158201444')).status, 401, 'the token of a revoked secret is none')
})

t.test('wrong tokens empty the bucket of their address, and the right one does not need it', async (t) => {
  const limited = await startApi(t, { RATE_LIMIT_ANONYMOUS: '1/3' })
  const workspace = await limited.makeWorkspace()
  const { path } = await makeProvider(limited, workspace, 'meta', { verifyToken: 'a-token-of-ours' })
  const ask = async (token: string) => {
    const url = `${path}?hub.mode=subscribe&hub.challenge=1&hub.verify_token=${token}`
    return (await limited.call('GET', url, { headers: {}, remoteAddress: '203.0.113.9' })).status
  }
  t.strictSame([await ask('a'), await ask('b'), await ask('c'), await ask('d')], [401, 401, 401, 429])
  t.equal(await ask('a-token-of-ours'), 200)
})

t.test('a ping of WooCommerce gets an empty 200 anywhere, and leaves nothing', async (t) => {
  const workspace = await api.makeWorkspace()
  const { path } = await makeProvider(
    api,
    workspace,
    'generic',
    { signatureHeader: 'X-WC-Webhook-Signature' },
    'shop',
  )
  const elsewhere = [
    `/api/incoming-webhooks/nobody/${workspace.id}`,
    `/api/incoming-webhooks/shop/${newId()}`,
    '/api/incoming-webhooks/x/y',
  ]
  for (const place of [path, ...elsewhere]) {
    const ping = (body: string, headers = {}) =>
      api.call('POST', place, { body, headers: { ...form, ...headers } })
    const { status, body } = await ping('webhook_id=17')
    t.strictSame([status, body ?? ''], [200, ''], place)
    t.equal((await ping('webhook_id=17&a=1')).status, 415, place)
    t.equal((await ping('webhook_id=17', { 'x-idempotency-key': 'a' })).status, 415, 'another sender')
    t.equal((await ping('webhook_id=17', { 'x-wc-webhook-signature': 'x' })).status, 401, 'it is signed')
  }
  t.equal(await workspace.database.webhookReceipt.count(), 0)
  t.equal(await workspace.database.event.count(), 0)
})

t.test(
  'JSON is read under each type that says so, and of providers also as text or without a type',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const github = await makeProvider(api, workspace, 'github')
    const cases: [type: string, status: number][] = [
      ['application/cloudevents+json', 202],
      ['application/cloudevents+json; charset=utf-8', 202],
      ['Application/JSON;charset=UTF-8', 202],
      ['text/plain', 202],
      ['text/plain; charset=utf-8', 202],
      ['', 202],
      ['text/html', 415],
      ['application/xml', 415],
      ['application/jsonp', 415],
    ]
    for (const [index, [type, status]] of cases.entries()) {
      const answer = await github.deliver({
        body: JSON.stringify({ index }),
        headers: { 'content-type': type === '' ? undefined : type },
      })
      t.equal(answer.status, status, type)
    }
    const own = (type: string) =>
      api.call('POST', github.path, { body: '{}', headers: { 'content-type': type } })
    t.equal((await own('text/plain')).status, 415, 'without a signature of a provider')
    t.match(await own('application/cloudevents+json'), { status: 400, body: { error: /X-Idempotency-Key/ } })
  },
)

t.test('a form is refused if it is not UTF-8, and its fields are nested for rules', async (t) => {
  const workspace = await api.makeWorkspace()
  const settings = { signatureHeader: 'X-Sign', body: 'form' } as const
  const shop = await makeProvider(api, workspace, 'generic', settings, 'shop')
  for (const type of [form['content-type'], `${form['content-type']}; charset=ISO-8859-1`])
    t.match(await shop.deliver({ body: 'name=Zo%EB', isForm: true, headers: { 'content-type': type } }), {
      status: 400,
      body: { error: /not a form in UTF-8/ },
    })
  t.equal((await shop.deliver({ body: 'Binding.Address=Zo%C3%AB&data[email]=a', isForm: true })).status, 202)
  const event = await workspace.database.event.findFirstOrThrow()
  t.match(event.data, { payload: { Binding: { Address: 'Zo\u00eb' }, data: { email: 'a' } } })
})

t.test('a time that cannot be read has its own finding', async (t) => {
  const workspace = await api.makeWorkspace()
  const settings = { signatureHeader: 'X-Sign', signed: '{timestamp}{body}', timestampHeader: 'X-Time' }
  const acme = await makeProvider(api, workspace, 'generic', settings, 'acme')
  await acme.deliver({ timestamp: 'yesterday' })
  const read = () => workspace.database.webhookRejection.findFirst()
  while ((await read()) === null) await new Promise((resolve) => setTimeout(resolve, 10))
  t.match(await read(), { reason: 'timestamp', findings: [{ code: 'timestamp_unreadable' }] })
})

t.test('rules read the new names of headers of Shopify', async (t) => {
  const workspace = await api.makeWorkspace()
  const shopify = await makeProvider(api, workspace, 'shopify')
  const { 'x-shopify-hmac-sha256': signature = '' } = shopify.sign({ body: '{"id":1}' })
  const headers = {
    'shopify-hmac-sha256': signature,
    'shopify-webhook-id': 'w1',
    'shopify-topic': 'orders/create',
  }
  const body = '{"id":1}'
  t.equal((await api.call('POST', shopify.path, { body, headers })).status, 202)
  const event = await workspace.database.event.findFirstOrThrow()
  t.match(event.data, { headers: { 'shopify-topic': 'orders/create' } })
})
