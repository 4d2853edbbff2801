import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import {
  createSealer,
  createSigningSecret,
  retireSigningSecret,
  revokeSigningSecret,
} from '@automation/access'
import { newId } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import { type SchemeName, type SchemeSettings, signByScheme, useScheme } from '@automation/webhooks'
import { readRecordedWebhooks } from '@automation/webhooks/recorded-webhooks'
import t from 'tap'
import { type Answer, encryptionKey, startApi, type Workspace } from './fixtures/api.js'
import { makeProvider, type ProviderParcel } from './fixtures/provider.js'
import { makeSender, nowText, provider as ourProvider } from './fixtures/sender.js'

const api = await startApi(t)

const vectors = readRecordedWebhooks()

t.test('GitHub is accepted, typed by its header, and known again by its id and by its body', async (t) => {
  const workspace = await api.makeWorkspace()
  const types = { 'issues.opened': 'LEAD_CREATED' }
  const github = await makeProvider(api, workspace, 'github', { types, dataFrom: 'issue' })
  const body = JSON.stringify({ action: 'opened', issue: { number: 7, title: 'Füße 🦶' } })
  const id = newId()
  const first = await github.deliver({ id, type: 'issues', body })
  t.match(first, { status: 202, body: { receiptState: 'accepted', deduplicated: false } })
  const events = await workspace.database.event.findMany({ orderBy: { id: 'asc' } })
  matchLists(t, events, [
    {
      type: 'WEBHOOK_RECEIVED',
      data: {
        provider: 'github',
        payload: JSON.parse(body),
        headers: { 'x-github-event': 'issues', 'x-github-delivery': id },
      },
    },
    { type: 'LEAD_CREATED', data: { number: 7, title: 'Füße 🦶' } },
  ])
  t.match(await github.deliver({ id, type: 'issues', body }), { status: 200, body: { deduplicated: true } })
  const replayed = await github.deliver({ type: 'issues', body })
  t.match(replayed, { status: 200, body: { id: first.body.id, deduplicated: true } }, 'under another id')
  t.match(await workspace.call('GET', `/api/developer/v1/webhook-receipts/${first.body.id}`), {
    body: { repeatedBy: 'body' },
  })
  const other = await github.deliver({ id, type: 'issues', body: '{"action":"closed"}' })
  t.match(other, { status: 200, body: { id: first.body.id, deduplicated: true, bodyDiffers: true } })
  t.match(await workspace.call('GET', `/api/developer/v1/webhook-receipts/${first.body.id}`), {
    body: { repeatedBy: 'id', bodyDiffers: true },
  })
  t.equal(await workspace.database.event.count(), 2)
  t.equal((await github.deliver({ type: 'push', body: '{}' })).status, 202, 'a type that is not mapped')
  t.equal(await workspace.database.event.count(), 3)
})

t.test('each scheme is accepted in its forms, with its response', async (t) => {
  const workspace = await api.makeWorkspace()
  const form = { isForm: true }
  const publicUrl = 'https://rules.example.com/api/incoming-webhooks/twilio'
  const acme = {
    signatureHeader: 'X-Signature',
    body: 'form:payload',
    response: { status: 200, body: '[accepted]' },
  }
  const cases: [
    SchemeName,
    SchemeSettings,
    ProviderParcel,
    status: number,
    body: unknown,
    payload: unknown,
  ][] = [
    ['standard_webhooks', {}, { body: '{"a":1}' }, 202, { receiptState: 'accepted' }, { a: 1 }],
    ['stripe', {}, { body: '{"id":"evt_1"}' }, 202, { receiptState: 'accepted' }, { id: 'evt_1' }],
    [
      'github',
      {},
      { body: 'payload=%7B%22a%22%3A2%7D', ...form },
      202,
      { receiptState: 'accepted' },
      { a: 2 },
    ],
    [
      'shopify',
      {},
      { body: '{"id":820982911946154508}' },
      202,
      { warnings: Array },
      { id: '820982911946154508' },
    ],
    ['slack', {}, { body: '{"event_id":"Ev1"}' }, 200, undefined, { event_id: 'Ev1' }],
    [
      'twilio',
      { publicUrl },
      { body: 'A=1&B=2&A=3', query: 'x=%20', ...form },
      200,
      '<Response/>',
      { A: ['1', '3'], B: '2' },
    ],
    ['generic', acme as SchemeSettings, { body: 'payload=[7]', ...form }, 200, '[accepted]', [7]],
  ]
  for (const [scheme, settings, parcel, status, body, payload] of cases) {
    const { deliver } = await makeProvider(api, workspace, scheme, settings)
    t.match(await deliver(parcel), { status, body }, scheme)
    const received = await workspace.database.event.findFirst({ orderBy: { id: 'desc' } })
    t.match(received, { type: 'WEBHOOK_RECEIVED', data: { provider: scheme } }, scheme)
    t.strictSame((received?.data as { payload: unknown } | undefined)?.payload, payload, scheme)
  }
  t.match((await workspace.call('GET', '/api/developer/v1/signing-secrets')).body, {
    data: cases.toReversed().map(([scheme]) => ({ scheme, provider: scheme })),
  })
})

t.test('whatever is wrong with a webhook of a provider, it gets the same 401', async (t) => {
  const workspace = await api.makeWorkspace()
  const publicUrl = 'https://rules.example.com/hook'
  const schemes: [SchemeName, SchemeSettings][] = [
    ['standard_webhooks', {}],
    ['stripe', {}],
    ['github', {}],
    ['shopify', {}],
    ['slack', {}],
    ['twilio', { publicUrl }],
    ['generic', { signatureHeader: 'X-Acme-Signature' }],
  ]
  await makeSender(api, workspace)
  for (const [scheme, settings] of schemes) {
    const one = await makeProvider(api, workspace, scheme, settings)
    const isForm = scheme === 'twilio'
    const body = Buffer.from(isForm ? 'A=1&Name=Zo%C3%AB' : '{"id":"evt_1","name":"Zoë"}')
    const signed = one.sign({ isForm, body })
    const wrong: Answer[] = []
    const ask = async (path: string, headers: object, sent: Buffer = body) => {
      const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json'
      wrong.push(await api.call('POST', path, { body: sent, headers: { 'content-type': type, ...headers } }))
    }
    for (let at = 0; at < body.length; at++) {
      const flipped = Buffer.from(body)
      flipped[at] = (flipped[at] ?? 0) ^ 1
      await ask(one.path, signed, flipped)
    }
    await ask(`/api/incoming-webhooks/${scheme}/${newId()}`, signed)
    await ask(`/api/incoming-webhooks/${scheme}/ours`, signed)
    await ask(`/api/incoming-webhooks/nobody/${workspace.id}`, signed)
    await ask(`/api/incoming-webhooks/${ourProvider}/${workspace.id}`, signed)
    if (!isForm)
      await ask(one.path, {
        ...signed,
        'x-signature-id': one.id,
        'x-idempotency-key': 'a',
        'x-timestamp': nowText(),
        'x-signature': 'v1=00',
      })
    for (const [other] of schemes.filter(([name]) => name !== scheme && name !== 'twilio')) {
      const elsewhere = await makeProvider(
        api,
        workspace,
        other,
        { ...(other === 'generic' && { signatureHeader: 'X-Acme-Signature' }) },
        `${scheme}-${other}`,
      )
      await ask(one.path, elsewhere.sign({ body }))
    }
    await revokeSigningSecret(administratorOf(workspace), one.id)
    await ask(one.path, signed)
    for (const { status, body: answered, headers } of wrong) {
      t.strictSame(
        { status, answered },
        { status: 401, answered: { error: 'Authentication required' } },
        scheme,
      )
      t.equal(headers['x-error-code'], 'invalid_signature')
    }
    await workspace.database.signingSecret.deleteMany({ where: { provider: { startsWith: scheme } } })
  }
})

t.test('five HMACs are made for each webhook, right or wrong, or two if it names a secret', async (t) => {
  const workspace = await api.makeWorkspace()
  const github = await makeProvider(api, workspace, 'github')
  const twilio = await makeProvider(api, workspace, 'twilio', {
    publicUrl: 'https://rules.example.com/hook',
  })
  const fields = await makeProvider(
    api,
    workspace,
    'generic',
    { signatureHeader: 'X-Acme-Hash', signed: '{fields}', body: 'form' },
    'fields',
  )
  const { createHmac } = crypto
  let count = 0
  let bytes = 0
  const algorithms = new Set<string>()
  crypto.createHmac = ((...args: Parameters<typeof createHmac>) => {
    const hmac = createHmac(...args)
    // The diagnosis of what was refused before comes later.
    if (!new Error().stack?.includes('verify-delivery')) return hmac
    count++
    algorithms.add(args[0])
    const { update } = hmac
    hmac.update = ((data: Buffer | string) => {
      bytes += data.length
      return Reflect.apply(update, hmac, [data])
    }) as typeof update
    return hmac
  }) as typeof createHmac
  syncBuiltinESMExports()
  t.teardown(() => {
    crypto.createHmac = createHmac
    syncBuiltinESMExports()
  })
  const countOf = async (path: string, headers: Record<string, string>) => {
    count = 0
    await api.call('POST', path, { body: '{}', headers })
    return count
  }
  const signed = github.sign({ body: '{}' })
  const stripe = { 'stripe-signature': `t=${nowText()},v1=${'0'.repeat(64)}` }
  const right = await countOf(github.path, signed)
  const counts = [
    await countOf(github.path, { ...signed, 'x-hub-signature-256': 'sha256=00' }),
    await countOf(github.path, stripe),
    await countOf(github.path, { 'x-signature': 'v1=00' }),
    await countOf(`/api/incoming-webhooks/nobody/${workspace.id}`, signed),
    await countOf(`/api/incoming-webhooks/github/${newId()}`, signed),
    await countOf(`/api/incoming-webhooks/github/${newId()}`, { 'x-some-hmac': 'x' }),
  ]
  t.equal(right, 5)
  const { secretId } = await makeSender(api, workspace)
  const named = (id: string) => ({
    'x-idempotency-key': 'a',
    'x-timestamp': nowText(),
    'x-signature-id': id,
    'x-signature': 'v1=00',
  })
  const ours = `/api/incoming-webhooks/${ourProvider}/${workspace.id}`
  t.strictSame(
    [
      await countOf(ours, named(secretId)),
      await countOf(ours, named(newId())),
      await countOf(github.path, named(secretId)),
      await countOf(github.path, { ...signed, ...named(github.id) }),
    ],
    [2, 2, 2, 2],
  )
  const urls = { 'x-twilio-signature': 'x' }
  t.strictSame(
    [await countOf(twilio.path, urls), await countOf(`/api/incoming-webhooks/nobody/${workspace.id}`, urls)],
    [20, 20],
    'Twilio signs one of two URLs, and leaves out the body',
  )
  t.strictSame(counts, Array(6).fill(5))
  algorithms.clear()
  await countOf(twilio.path, { 'x-twilio-signature': 'x', 'x-hub-signature-256': 'sha256=00' })
  t.strictSame([...algorithms], ['sha256'], 'of two schemes, the same is tried for every provider')
  const bytesOf = async (path: string) => {
    bytes = 0
    await countOf(path, { 'x-acme-hash': '00' })
    return bytes
  }
  const unknown = await bytesOf(`/api/incoming-webhooks/nobody/${workspace.id}`)
  t.equal(unknown, 5 * '{}'.length)
  t.equal(await bytesOf(fields.path), unknown, 'a secret for fields is none for JSON')

  const workOf = async (path: string, header: string, body: string) => {
    count = 0
    bytes = 0
    const headers = { 'content-type': 'application/x-www-form-urlencoded', [header]: '00' }
    await api.call('POST', path, { body, headers })
    return { count, bytes }
  }
  const ofBody = { signatureHeader: 'X-Acme-Hash', body: 'form' } as const
  const ofBoth = { ...ofBody, signed: '{body}{fields}' }
  const oddOnes = [
    fields,
    await makeProvider(api, workspace, 'generic', ofBody, 'body'),
    await makeProvider(api, workspace, 'generic', ofBoth, 'both'),
  ]
  const form = `b=${'x'.repeat(500)}&a=%41`
  const nobody = `/api/incoming-webhooks/nobody/${workspace.id}`
  const ofNobody = await workOf(nobody, 'x-acme-hash', form)
  t.strictSame(ofNobody, { count: 10, bytes: 5 * (form.length + 'aAb'.length + 500) })
  for (const { path, provider } of oddOnes)
    t.strictSame(await workOf(path, 'x-acme-hash', form), ofNobody, provider)
  for (const [{ path, provider }, header] of [
    [github, 'x-hub-signature-256'],
    [twilio, 'x-twilio-signature'],
  ] as const) {
    const known = await workOf(path, header, form)
    const { count: hmacs, bytes: digested } = await workOf(nobody, header, form)
    t.equal(known.count, hmacs, provider)
    // The URL of Twilio, in two spellings.
    t.ok(known.bytes - digested < 100, provider)
  }
})

t.test('a captured webhook under ever new ids is found without Postgres, and its sender pays', async (t) => {
  const limited = await startApi(t, { RATE_LIMIT_ANONYMOUS: '1/3', RATE_LIMIT_ENTERPRISE: '1/4' })
  const workspace = await limited.makeWorkspace()
  const { deliver } = await makeProvider(limited, workspace, 'github')
  const first = await deliver()
  t.equal(first.status, 202)
  t.match(await deliver(), { status: 200, body: { id: first.body.id } }, 'found in Postgres')
  await limited.app.redis.ping()
  const accept = limited.app.inbox.acceptWebhook
  limited.app.inbox.acceptWebhook = async () => t.fail('found in Redis') as never
  const statuses: number[] = []
  for (let count = 0; count < 4; count++) statuses.push((await deliver()).status)
  limited.app.inbox.acceptWebhook = accept
  t.strictSame(statuses, [200, 200, 200, 429])
  t.equal((await deliver({ body: '{"a":2}' })).status, 202, 'the bucket of the workspace has tokens')
  t.match(await workspace.call('GET', `/api/developer/v1/webhook-receipts/${first.body.id}`), {
    body: { repeatedBy: 'body' },
  })
})

t.test('a repeat in the next interval costs its sender, and the workspace nothing', async (t) => {
  const limited = await startApi(t, { RATE_LIMIT_ANONYMOUS: '1/5', RATE_LIMIT_ENTERPRISE: '1/2' })
  const workspace = await limited.makeWorkspace()
  const { deliver } = await makeProvider(limited, workspace, 'github', { repeatsFor: '1h' })
  const { now } = Date
  t.teardown(() => {
    Date.now = now
  })
  // Two minutes ahead at least: see newId.
  const end = Math.ceil((Date.now() + 120_000) / 3_600_000) * 3_600_000
  Date.now = () => end - 1
  const first = await deliver()
  t.equal(first.status, 202)
  await workspace.database.webhookReceipt.updateMany({ data: { receivedAt: new Date(end - 1) } })
  Date.now = () => end + 1
  for (let count = 0; count < 3; count++)
    t.match(await deliver(), { status: 200, body: { id: first.body.id, deduplicated: true } })
  t.equal((await deliver({ body: '{"a":2}' })).status, 202, 'the bucket of the workspace has a token')
})

t.test('a form weighs what it is as JSON, and has its limit', async (t) => {
  const workspace = await api.makeWorkspace()
  const slack = await makeProvider(api, workspace, 'slack')
  const sizes: number[] = []
  const publish = api.app.inbox.acceptWebhook
  api.app.inbox.acceptWebhook = (receipt, events) => {
    sizes.push(...events.map(({ bytes }) => bytes ?? 0))
    return publish.call(api.app.inbox, receipt, events)
  }
  t.teardown(() => {
    api.app.inbox.acceptWebhook = publish
  })
  const send = (count: number) => slack.deliver({ isForm: true, body: `a=${'\x01'.repeat(count)}` })
  t.equal((await send(1_000)).status, 200)
  t.strictSame(sizes, ['{"a":""}'.length + 6_000])
  t.match(await send(200_000), { status: 413, headers: { 'x-error-code': 'body_too_large' } })
  t.equal(sizes.length, 1)
})

t.test('what could be our own scheme is refused as ever', async (t) => {
  const workspace = await api.makeWorkspace()
  await makeProvider(api, workspace, 'generic', { signatureHeader: 'X-Signature' }, 'acme')
  for (const provider of ['acme', 'nobody']) {
    const path = `/api/incoming-webhooks/${provider}/${workspace.id}`
    const ask = (headers: Record<string, string>) => api.call('POST', path, { body: '{}', headers })
    t.match(await ask({}), { status: 400, body: { error: 'Header X-Idempotency-Key is required' } })
    t.match(await ask({ 'x-signature': 'v1=00' }), {
      status: 400,
      body: { error: 'Header X-Idempotency-Key is required' },
    })
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    t.equal((await ask(form)).status, 415)
    t.equal((await ask({ ...form, 'x-signature': 'v1=00' })).status, 415)
    t.equal((await ask({ ...form, 'stripe-signature': 't=1' })).status, 401)
  }
})

t.test('Slack gets its challenge, once verified, and nothing follows from it', async (t) => {
  const workspace = await api.makeWorkspace()
  const slack = await makeProvider(api, workspace, 'slack')
  const body = JSON.stringify({ token: 'x', challenge: '<b>3eZbrw1a</b>', type: 'url_verification' })
  const first = await slack.deliver<string>({ body })
  t.match(first, { status: 200, body: '<b>3eZbrw1a</b>', headers: { 'content-type': /^text\/plain/ } })
  t.equal((await slack.deliver({ body })).body, '<b>3eZbrw1a</b>', 'and again')
  t.equal((await slack.deliver({ body, headers: { 'x-slack-signature': 'v0=00' } })).status, 401)
  t.equal(await workspace.database.event.count(), 0)
  const receipts = await workspace.call<{ data: object[] }>('GET', '/api/developer/v1/webhook-receipts')
  t.match(receipts.body.data[0], {
    handshake: true,
    eventTypes: { length: 0 },
    receiptState: 'accepted',
    idempotencyKey: /^challenge:[0-9a-f]{64}$/,
  })
})

t.test('the payload of a provider may be a list, whose items have paths and become events', async (t) => {
  const workspace = await api.makeWorkspace()
  const hubspot = await makeProvider(
    api,
    workspace,
    'generic',
    {
      signatureHeader: 'X-Sign',
      idPath: '[0].eventId',
      typePath: '[0].subscriptionType',
      types: { 'contact.creation': 'LEAD_CREATED' },
      dataFrom: '[0]',
    },
    'hubspot',
  )
  const listed = (eventId: number) =>
    JSON.stringify([
      { eventId, subscriptionType: 'contact.creation', objectId: 7 },
      { eventId: eventId + 1, subscriptionType: 'contact.deletion', objectId: 8 },
    ])
  const first = await hubspot.deliver({ body: listed(1) })
  t.equal(first.status, 202)
  t.match(await workspace.call('GET', `/api/developer/v1/webhook-receipts/${first.body.id}`), {
    body: { idempotencyKey: '1', eventTypes: ['webhook_received', 'lead_created'] },
  })
  t.match(await workspace.database.event.findFirstOrThrow({ where: { type: 'LEAD_CREATED' } }), {
    data: { objectId: 7 },
  })
  t.match(await hubspot.deliver({ body: listed(1) }), { status: 200, body: { deduplicated: true } })
  t.equal((await hubspot.deliver({ body: listed(3) })).status, 202)
})

t.test('a secret that retires signs beside the next one until then, in every scheme', async (t) => {
  const workspace = await api.makeWorkspace()
  const { signingSecret } = workspace.database
  const settings = { signatureHeader: 'X-Sign', signed: '{timestamp}{body}', timestampHeader: 'X-Time' }
  const schemes: [SchemeName, SchemeSettings][] = [
    ['standard_webhooks', {}],
    ['stripe', {}],
    ['github', {}],
    ['shopify', {}],
    ['slack', {}],
    ['generic', settings],
  ]
  for (const [scheme, more] of schemes) {
    const old = await makeProvider(api, workspace, scheme, more)
    await retireSigningSecret(administratorOf(workspace), old.id, 3_600_000)
    const next = await makeProvider(api, workspace, scheme, more)
    const deliver = async ({ deliver }: typeof old) =>
      (await deliver({ body: JSON.stringify({ id: newId() }) })).status < 300
    t.strictSame([await deliver(old), await deliver(next)], [true, true], `${scheme}: both`)
    await signingSecret.update({ where: { id: old.id }, data: { retiresAt: new Date() } })
    t.strictSame([await deliver(old), await deliver(next)], [false, true], `${scheme}: the next one`)
  }
})

t.test('a time is signed, and outside of the window it is refused', async (t) => {
  const workspace = await api.makeWorkspace()
  for (const scheme of ['standard_webhooks', 'stripe', 'slack'] as const) {
    const { deliver } = await makeProvider(api, workspace, scheme)
    for (const timestamp of [nowText(-400), nowText(400)])
      t.match(await deliver({ timestamp }), {
        status: 401,
        body: { error: 'Timestamp is outside the accepted window' },
      })
    for (const timestamp of ['soon', '', '1e99'])
      t.match(await deliver({ timestamp }), {
        status: 401,
        body: { error: 'The time that is signed cannot be read: send a Unix time, or RFC 3339' },
      })
    t.ok((await deliver({ timestamp: nowText(-200) })).status < 300)
  }
  const settings = { signatureHeader: 'X-Sign', signed: '{timestamp}{body}', timestampHeader: 'X-Time' }
  const acme = await makeProvider(api, workspace, 'generic', settings)
  t.equal((await acme.deliver({ timestamp: `${nowText(-200)}000` })).status, 202, 'in milliseconds')
  t.equal((await acme.deliver({ timestamp: `${nowText(-400)}000` })).status, 401)
  const zendesk = await makeProvider(
    api,
    workspace,
    'generic',
    {
      signatureHeader: 'X-Zendesk-Webhook-Signature',
      timestampHeader: 'X-Zendesk-Webhook-Signature-Timestamp',
      signed: '{timestamp}{body}',
      encoding: 'base64',
    },
    'zendesk',
  )
  const timestamp = new Date(Date.now() - 100_000).toISOString()
  t.equal(
    (await zendesk.deliver({ timestamp })).status,
    202,
    'RFC 3339, in a header named after the signature',
  )
  t.equal((await zendesk.deliver({ timestamp, headers: { 'x-zendesk-webhook-signature': 'x' } })).status, 401)
})

t.test('a repeated webhook is recognized by what is signed', async (t) => {
  const workspace = await api.makeWorkspace()
  const publicUrl = 'https://rules.example.com/hook'
  const count = () => workspace.database.event.count()
  const stripe = await makeProvider(api, workspace, 'stripe')
  await stripe.deliver({ body: '{"id":"evt_1","a":1}' })
  const changed = await stripe.deliver({ body: '{"id":"evt_1","a":2}' })
  t.match(changed, { status: 200, body: { deduplicated: true, bodyDiffers: true } })
  t.equal(await count(), 1)
  const standard = await makeProvider(api, workspace, 'standard_webhooks')
  await standard.deliver({ id: 'msg_1' })
  t.match(await standard.deliver({ id: 'msg_1' }), { status: 200 })
  t.match(await standard.deliver({ id: 'msg_2' }), { status: 202 }, 'the same body under another signed id')
  t.equal(await count(), 3)
  const twilio = await makeProvider(api, workspace, 'twilio', { publicUrl })
  const status = (word: string) =>
    twilio.deliver({ isForm: true, body: `MessageSid=SM1&MessageStatus=${word}` })
  for (const word of ['sent', 'delivered', 'sent']) await status(word)
  t.equal(await count(), 5, 'one for each state of a message')
  const shopify = await makeProvider(api, workspace, 'shopify')
  await Promise.all(Array.from({ length: 10 }, () => shopify.deliver({ body: '{"id":1}' })))
  t.equal(await count(), 6, 'at once, each under an id of its own')
  const odd = await makeProvider(api, workspace, 'stripe', {}, 'odd')
  const body = JSON.stringify({ id: `${'x'.repeat(300)}/ü ` })
  t.strictSame([(await odd.deliver({ body })).status, (await odd.deliver({ body })).status], [202, 200])
})

t.test(
  'the same bytes under two mapped types of a header are two webhooks, and a repeat of none',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const types = { 'orders/create': 'LEAD_CREATED', 'orders/paid': 'LEAD_UPDATED' }
    const shopify = await makeProvider(api, workspace, 'shopify', { types })
    const send = async (type: string) => (await shopify.deliver({ body: '{"id":1}', type })).status
    t.strictSame([await send('orders/create'), await send('orders/paid')], [202, 202])
    t.strictSame([await send('orders/paid'), await send('orders/create')], [200, 200])
    t.strictSame(
      [await send('some'), await send('another'), await send('constructor')],
      [202, 200, 200],
      'all types that are not mapped are one',
    )
    t.equal(await workspace.database.event.count(), 5)
  },
)

t.test('a captured webhook is not accepted under another id, where the id is not signed', async (t) => {
  const workspace = await api.makeWorkspace()
  const acme = await makeProvider(api, workspace, 'generic', {
    signatureHeader: 'X-Acme-Signature',
    signed: '{timestamp}.{body}',
    timestampHeader: 'X-Acme-Time',
    idHeader: 'X-Acme-Id',
  })
  const timestamp = nowText()
  t.equal((await acme.deliver({ id: 'one', timestamp })).status, 202)
  t.match(await acme.deliver({ id: 'two', timestamp }), { status: 200, body: { deduplicated: true } })
  t.equal(
    (await acme.deliver({ id: 'three', timestamp: String(Number(timestamp) - 1) })).status,
    202,
    'a heartbeat counts each time',
  )
})

t.test('what the libraries of providers have signed is accepted unmodified', async (t) => {
  const { now } = Date
  t.teardown(() => {
    Date.now = now
  })
  const administrator = administratorOf(await api.makeWorkspace())
  for (const [at, recorded] of vectors.webhooks.entries()) {
    const { scheme, settings, secret, body, headers, isForm, query, library } = recorded
    const provider = `provider-${at}`
    // Twilio signs the address, which is that of the recording.
    await createSigningSecret(administrator, createSealer(encryptionKey), {
      provider,
      scheme,
      settings,
      secret,
    })
    const path = `/api/incoming-webhooks/${provider}/${administrator.workspaceId}`
    const type = isForm
      ? 'application/x-www-form-urlencoded; charset=UTF-8'
      : 'application/json; charset=utf-8'
    Date.now = () => vectors.seconds * 1_000 + 60_000
    const answer = await api.call('POST', query === '' ? path : `${path}?${query}`, {
      body,
      headers: { 'content-type': type, ...headers },
    })
    Date.now = now
    t.ok(answer.status === 202 || answer.status === 200, `${library}: ${answer.status}`)
  }
  const receipts = api.app.database.forWorkspace(administrator.workspaceId).webhookReceipt
  t.equal(await receipts.count(), vectors.webhooks.length)
})

t.test(
  'wrong webhooks empty the bucket of their address, and rightly signed ones do not need it',
  async (t) => {
    const limited = await startApi(t, { RATE_LIMIT_ANONYMOUS: '1/3' })
    const workspace = await limited.makeWorkspace()
    const { path, sign } = await makeProvider(limited, workspace, 'github')
    const ask = async (headers: Record<string, string>) => {
      const remoteAddress = '203.0.113.9'
      return (await limited.call('POST', path, { body: '{"a":1}', headers, remoteAddress })).status
    }
    const wrong = { 'x-hub-signature-256': 'sha256=00' }
    t.strictSame(
      [await ask(wrong), await ask(wrong), await ask(wrong), await ask(wrong)],
      [401, 401, 401, 429],
    )
    t.equal(await ask(sign({ body: '{"a":1}' })), 202)
  },
)

t.test('a body without a signed time or id identifies a webhook for five minutes only', async (t) => {
  const { now } = Date
  t.teardown(() => {
    Date.now = now
  })
  for (const ids of [{}, { idHeader: 'X-Acme-Id' }]) {
    const workspace = await api.makeWorkspace()
    const settings = { signatureHeader: 'X-Acme-Signature', ...ids }
    const plain = await makeProvider(api, workspace, 'generic', settings)
    const statuses: number[] = []
    // Near the end of an interval of the keys.
    const start = Math.ceil(now() / 300_000) * 300_000 - 1_000
    for (const afterMs of [0, 500, 2_000, 200_000]) {
      Date.now = () => start + afterMs
      statuses.push((await plain.deliver()).status)
      // The clock of Postgres stays.
      await workspace.database.webhookReceipt.updateMany({ data: { receivedAt: new Date(start) } })
    }
    t.strictSame(statuses, [202, 200, 200, 200])
    Date.now = () => start + 310_000
    t.equal((await plain.deliver({ id: 'last' })).status, 202, 'a heartbeat counts each time')
    Date.now = () => start + 900_000
    t.equal(
      (await plain.deliver({ id: 'last' })).status,
      'idHeader' in ids ? 200 : 202,
      'an id is known longer',
    )
  }
})

t.test('the same body under another id is a repeat for as long as the settings say', async (t) => {
  const { now } = Date
  t.teardown(() => {
    Date.now = now
  })
  const hour = 3_600_000
  // Near the end of an interval of the keys.
  const start = Math.ceil(now() / hour) * hour - 1_000
  for (const scheme of ['github', 'shopify', 'meta'] as const) {
    const workspace = await api.makeWorkspace()
    const token = scheme === 'meta' ? { verifyToken: 'a token of ours'.replaceAll(' ', '-') } : {}
    const short = await makeProvider(api, workspace, scheme, { repeatsFor: '1h', ...token })
    const long = await makeProvider(api, workspace, scheme, token, 'long')
    const statusAt = async (afterMs: number, { deliver }: typeof short = short) => {
      Date.now = () => start + afterMs
      const { status } = await deliver()
      await workspace.database.webhookReceipt.updateMany({
        where: { receivedAt: { lt: new Date(start - 2 * hour) } },
        data: { receivedAt: new Date(start) },
      })
      // The clock of Postgres stays, and the first delivery counts as that of the start.
      await workspace.database.webhookReceipt.updateMany({ data: { receivedAt: new Date(start) } })
      return status
    }
    t.equal(await statusAt(0), 202, scheme)
    t.equal(await statusAt(0, long), 202)
    t.strictSame([await statusAt(500), await statusAt(2_000), await statusAt(hour - 1)], [200, 200, 200])
    t.equal(await statusAt(hour + 1), 202, 'after that, an interceptor may repeat it')
    t.equal(await statusAt(20 * 24 * hour, long), 200, 'without a setting it is a repeat for good')
  }
})

t.test('fields that are signed without their bounds are not accepted with other bounds', async (t) => {
  const workspace = await api.makeWorkspace()
  const acme = await makeProvider(api, workspace, 'generic', {
    signatureHeader: 'X-Acme-Signature',
    signed: '{fields}',
    body: 'form',
    idPath: 'id',
  })
  const first = { isForm: true, body: 'id=1&x=2' }
  const headers = acme.sign(first)
  t.equal((await acme.deliver(first)).status, 202)
  t.match(await acme.deliver({ isForm: true, body: 'id=1x2', headers }), {
    status: 200,
    body: { deduplicated: true, bodyDiffers: true },
  })
  t.equal((await acme.deliver({ isForm: true, body: 'id=2&x=2' })).status, 202)
})

t.test(
  'a secret of a provider is stored as the provider shows it, and its settings are checked',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const secrets = '/api/developer/v1/signing-secrets'
    const create = (body: object) => workspace.call<{ id: string }>('POST', secrets, { body })
    const manyTypes = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [`${at}-${'x'.repeat(100)}`, 'LEAD_CREATED']),
    )
    const faulty: [body: object, field: string][] = [
      [{ provider: 'a', scheme: 'twilio' }, 'settings.publicUrl'],
      [{ provider: 'a', scheme: 'generic' }, 'settings.signatureHeader'],
      [{ provider: 'a', scheme: 'meta' }, 'settings.verifyToken'],
      [{ provider: 'a', scheme: 'meta', settings: { verifyToken: 'short' } }, 'settings.verifyToken'],
      [{ provider: 'a', scheme: 'github', settings: { verifyToken: 'long enough' } }, 'settings.verifyToken'],
      ...['0', '4m', '31d', '1y', ''].map((repeatsFor): [body: object, field: string] => [
        { provider: 'a', scheme: 'github', settings: { repeatsFor } },
        'settings.repeatsFor',
      ]),
      [{ provider: 'a', scheme: 'stripe', settings: { repeatsFor: '1h' } }, 'settings.repeatsFor'],
      [
        {
          provider: 'a',
          scheme: 'generic',
          settings: {
            signatureHeader: 'X-Sign',
            signed: '{timestamp}{body}',
            timestampHeader: 'X-At',
            repeatsFor: '1h',
          },
        },
        'settings.repeatsFor',
      ],
      [
        {
          provider: 'a',
          scheme: 'generic',
          settings: { signatureHeader: 'X-Sign', idPath: 'id', repeatsFor: '1h' },
        },
        'settings.repeatsFor',
      ],
      [
        { provider: 'a', scheme: 'generic', settings: { signatureHeader: 'X-Key' } },
        'settings.signatureHeader',
      ],
      [{ provider: 'a', scheme: 'stripe', settings: { hash: 'sha1' } }, 'settings.hash'],
      [{ provider: 'a', settings: { types: {} } }, 'settings.types'],
      [{ provider: 'a', scheme: 'github', settings: { headers: ['Authorization'] } }, 'settings.headers'],
      [
        { provider: 'a', scheme: 'github', settings: { headers: ['X-Hub-Signature-256'] } },
        'settings.headers',
      ],
      [{ provider: 'a', scheme: 'github', settings: { headers: ['Cookie'] } }, 'settings.headers'],
      ...(['idHeader', 'typeHeader', 'timestampHeader'] as const).flatMap((setting) =>
        ['Authorization', 'cookie', 'X-Api-Key'].map((header): [body: object, field: string] => [
          {
            provider: 'a',
            scheme: 'generic',
            settings: {
              signatureHeader: 'X-Sign',
              ...(setting === 'timestampHeader' && { signed: '{timestamp}{body}' }),
              [setting]: header,
            },
          },
          `settings.${setting}`,
        ]),
      ),
      ...['a..b', '[0]..b', '[x]', '[]', '[-1]'].map((dataFrom): [body: object, field: string] => [
        { provider: 'a', scheme: 'github', settings: { dataFrom } },
        'settings.dataFrom',
      ]),
      [{ provider: 'a', scheme: 'github', settings: { types: manyTypes } }, 'settings'],
      [
        { provider: 'a', scheme: 'github', settings: { types: { push: 'NOBODY_KNOWS' } } },
        'settings.types.push',
      ],
      [
        { provider: 'a', scheme: 'github', settings: { types: { push: 'WEBHOOK_RECEIVED' } } },
        'settings.types.push',
      ],
      [{ provider: 'a', scheme: 'standard_webhooks', secret: 'whsec_no-base64!' }, 'secret'],
      [{ provider: 'a', secret: 'not-of-ours' }, 'secret'],
      [{ provider: 'a', scheme: 'stripe', secret: 'with a space' }, 'secret'],
      [{ provider: 'example.com', direction: 'outgoing', scheme: 'stripe' }, 'scheme'],
      [
        { provider: 'a', scheme: 'generic', settings: { signatureHeader: 'X-Sign', signed: '{timestamp}' } },
        'settings.signed',
      ],
    ]
    for (const [body, field] of faulty) {
      const answer = await create(body)
      t.equal(answer.status, 422, JSON.stringify(body))
      t.match(answer.body, { errors: [{ field }] }, JSON.stringify(body))
    }
    const signedId = { signatureHeader: 'X-Sign', idPath: 'id', repeatsFor: '0' }
    t.equal((await create({ provider: 'signed-id', scheme: 'generic', settings: signedId })).status, 201)
    const noId = { signatureHeader: 'X-Sign', repeatsFor: '1h' }
    t.equal((await create({ provider: 'no-id', scheme: 'generic', settings: noId })).status, 201)
    const ofSignature = {
      signatureHeader: 'X-Auth-Signature',
      timestampHeader: 'X-Auth-Signature',
      timestampPrefix: 't=',
      signed: '{timestamp}{body}',
    }
    t.equal((await create({ provider: 'auth', scheme: 'generic', settings: ofSignature })).status, 201)
    const stripe = await create({ provider: 'pay', scheme: 'stripe', secret: 'whsec_of_the_provider' })
    t.match(stripe, {
      status: 201,
      body: { scheme: 'stripe', settings: null, secret: 'whsec_of_the_provider' },
    })
    t.match(await create({ provider: 'pay', scheme: 'github' }), {
      status: 409,
      headers: { 'x-error-code': 'scheme_in_use' },
    })
    t.match(await create({ provider: 'pay' }), { status: 409, headers: { 'x-error-code': 'scheme_in_use' } })
    for (let count = 1; count < 5; count++)
      t.equal((await create({ provider: 'pay', scheme: 'stripe' })).status, 201)
    t.match(await create({ provider: 'pay', scheme: 'stripe' }), {
      status: 409,
      headers: { 'x-error-code': 'limit_reached' },
    })
    const path = `${secrets}/${stripe.body.id}`
    const put = (body: object, at = path) => workspace.call('PUT', at, { body })
    const settings = { types: { x: 'LEAD_CREATED' } }
    const saved = await put({ settings })
    t.match(saved, { status: 200, body: { id: stripe.body.id } })
    const shown = (saved.body as { settings: object }).settings
    t.strictSame(shown, settings, 'nothing stands there that nobody has set')
    t.equal((await put({ settings: shown })).status, 200)
    t.equal((await put({ settings: { publicUrl: 'https://example.com' } })).status, 422)
    t.equal((await put({})).status, 422)
    const sign = (secret: string) => {
      const body = '{"id":"evt_1","type":"x"}'
      const inUse = useScheme('stripe', {})
      const webhook = {
        id: '',
        type: '',
        timestamp: nowText(),
        isForm: false,
        query: '',
        body: Buffer.from(body),
      }
      const headers = signByScheme(inUse, Buffer.from(secret), webhook)
      return api.call('POST', `/api/incoming-webhooks/pay/${workspace.id}`, { body, headers })
    }
    t.equal((await sign('whsec_of_the_provider')).status, 202)
    t.equal(await workspace.database.event.count(), 2)
    t.match(await put({ secret: 'whsec_another_one' }), { status: 200 })
    t.equal((await sign('whsec_of_the_provider')).status, 401)
    t.equal((await sign('whsec_another_one')).status, 200)
    const outgoing = await create({ provider: 'example.com', direction: 'outgoing' })
    t.equal((await put({ secret: 'whsec_another_one' }, `${secrets}/${outgoing.body.id}`)).status, 422)
    await workspace.call('DELETE', path)
    t.match(await put({ secret: 'whsec_another_one' }), { status: 409 })
    const audit = await workspace.call('GET', `/api/developer/v1/audit-log?subject=${stripe.body.id}`)
    t.notMatch(JSON.stringify(audit.body), 'whsec')
    t.match(JSON.stringify(audit.body), '"changed":["secret"]')
  },
)

t.test('the settings of a secret that does not open are changed together with its text', async (t) => {
  const workspace = await api.makeWorkspace()
  const settings = { signatureHeader: 'X-Sign' }
  const lost = createSealer(crypto.randomBytes(32).toString('base64'))
  const input = { provider: 'acme', scheme: 'generic', settings } as const
  const { id } = await createSigningSecret(administratorOf(workspace), lost, input)
  const put = (body: object) => workspace.call('PUT', `/api/developer/v1/signing-secrets/${id}`, { body })
  t.match(await put({ settings }), {
    status: 422,
    body: { errors: [{ field: 'secret', message: /^Must be sent, too/ }] },
  })
  t.match(await put({ settings, secret: 'of-the-provider' }), { status: 200 })
})

t.test('the diagnosis names the provider, what differs, and what is usually wrong', async (t) => {
  const workspace = await api.makeWorkspace()
  const publicUrl = 'https://rules.example.com/hook'
  const [stripe, twilio, github] = [
    await makeProvider(api, workspace, 'stripe'),
    await makeProvider(api, workspace, 'twilio', { publicUrl }),
    await makeProvider(api, workspace, 'github'),
  ]
  const other = await makeProvider(api, workspace, 'stripe', {}, 'other')
  const json = '{"id":"evt_1","b":2}'
  const slashed = useScheme('twilio', { publicUrl: `${publicUrl}/` })
  const parcel = { id: '', type: '', timestamp: nowText(), isForm: true, query: '', body: Buffer.from('A=1') }
  const cases: [send: () => Promise<Answer>, codes: string[], words: RegExp][] = [
    [
      () => stripe.deliver({ headers: { 'stripe-signature': `t=${nowText()},v1=00` } }),
      ['no_match_of_provider', 'usual_mistake'],
      /stripe listen/,
    ],
    [
      () => stripe.deliver({ body: json, headers: other.sign({ body: json }) }),
      ['other_provider'],
      /provider other/,
    ],
    [
      () => stripe.deliver({ body: json, headers: stripe.sign({ body: '{"id": "evt_1", "b": 2}' }) }),
      ['body_changed'],
      /json\.dumps/,
    ],
    [
      () => github.deliver({ headers: { 'x-hub-signature-256': undefined, 'x-hub-signature': 'sha1=00' } }),
      ['header_missing'],
      /x-hub-signature-256/,
    ],
    [
      () =>
        github.deliver({ headers: { 'x-hub-signature-256': undefined, 'stripe-signature': 't=1,v1=00' } }),
      ['foreign_scheme'],
      /Stripe/,
    ],
    [
      () =>
        twilio.deliver({
          isForm: true,
          body: 'A=1',
          headers: signByScheme(slashed, Buffer.from(twilio.secret), parcel),
        }),
      ['other_url'],
      /a slash at its end/,
    ],
  ]
  for (const [send, codes, words] of cases) {
    await workspace.database.webhookRejection.deleteMany()
    t.equal((await send()).status, 401, codes.join())
    const read = () => workspace.database.webhookRejection.findFirst()
    while ((await read()) === null) await new Promise((resolve) => setTimeout(resolve, 10))
    const findings = (await read())?.findings as { code: string; message: string }[]
    t.strictSame(
      findings.map(({ code }) => code),
      codes,
    )
    t.match(findings.map(({ message }) => message).join(' '), words)
    t.notMatch(JSON.stringify(findings), stripe.secret)
  }
})

t.test('a receipt says what was refused, and knows the scheme of the provider', async (t) => {
  const workspace = await api.makeWorkspace()
  const stripe = await makeProvider(api, workspace, 'stripe')
  const slack = await makeProvider(api, workspace, 'slack')
  const unsigned = { 'stripe-signature': undefined, 'x-slack-signature': undefined }
  const text = { 'content-type': 'text/html' }
  const missing = (name: string) => ({
    code: 'header_missing',
    message: `The header ${name} is missing or empty.`,
  })
  const asJson = { code: 'refused', message: 'The response said: Content-Type must be application/json.' }
  const cases: [send: () => Promise<Answer>, reason: string, findings: object[]][] = [
    [() => stripe.deliver({ headers: text }), 'content_type', [asJson]],
    [
      () => stripe.deliver({ headers: { ...text, ...unsigned } }),
      'content_type',
      [asJson, missing('stripe-signature')],
    ],
    [() => stripe.deliver({ headers: unsigned }), 'header', [missing('stripe-signature')]],
    [() => slack.deliver({ headers: unsigned }), 'header', [missing('x-slack-signature')]],
    [
      () => stripe.deliver({ body: '{x' }),
      'body',
      [{ code: 'refused', message: /^The response said: Body is not valid JSON: line 1, column 2/ }],
    ],
  ]
  for (const [send, reason, findings] of cases) {
    await workspace.database.webhookRejection.deleteMany()
    await send()
    const read = () => workspace.database.webhookRejection.findFirst()
    while ((await read()) === null) await new Promise((resolve) => setTimeout(resolve, 10))
    const rejection = await read()
    t.equal(rejection?.reason, reason)
    matchLists(t, rejection?.findings, findings)
  }
})

t.test(
  'a mapped type that becomes no event is no secret: the response and the receipt say why',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const types = { 'payment_intent.payment_failed': 'DEAL_LOST' }
    const stripe = await makeProvider(api, workspace, 'stripe', { types, dataFrom: 'data.object' })
    const warnings = [
      { field: 'settings.dataFrom', message: 'No event DEAL_LOST: the payload has no object at data.object' },
    ]
    const body = JSON.stringify({ id: 'evt_q5', type: 'payment_intent.payment_failed' })
    const answer = await stripe.deliver({ body })
    t.match(answer, { status: 202, body: { warnings } })
    const receipt = await workspace.call(
      'GET',
      `/api/developer/v1/webhook-receipts/${(answer.body as { id: string }).id}`,
    )
    t.match(receipt, { status: 200, body: { eventTypes: ['webhook_received'], warnings } })
  },
)

t.test(
  'a rightly signed body that cannot be read or stored is refused with its reason, and never a fault',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const fields = (count: number) => Array.from({ length: count }, (_, at) => `f${at}=${at}`).join('&')
    const slack = await makeProvider(api, workspace, 'slack')
    const github = await makeProvider(api, workspace, 'github')
    const stripe = await makeProvider(api, workspace, 'stripe')
    const form = { isForm: true }
    const cases: [one: typeof slack, parcel: ProviderParcel, status: number][] = [
      [slack, { ...form, body: fields(1_000) }, 200],
      [slack, { ...form, body: fields(1_001) }, 400],
      [slack, { ...form, body: '&'.repeat(900_000) }, 400],
      [slack, { ...form, body: Buffer.from([0x61, 0x3d, 0xff]) }, 400],
      [slack, { ...form, body: '__proto__=1' }, 400],
      [slack, { ...form, body: 'a=%00' }, 422],
      [slack, { ...form, body: 'constructor=1&toString=2' }, 200],
      [slack, { ...form, body: 'a=%FF%ED%A0%80' }, 400],
      [slack, { ...form, body: '' }, 200],
      [slack, { ...form, body: 'payload=%7B' }, 400],
      [slack, { body: '{"type":"url_verification"}' }, 200],
      [slack, { body: '{"type":"url_verification","challenge":{"a":1}}' }, 200],
      [slack, { body: `{"type":"url_verification","challenge":"${'x'.repeat(2_000)}"}` }, 200],
      [github, { ...form, body: 'a=1' }, 400],
      [github, { ...form, body: 'payload=1&payload=2' }, 400],
      [github, { ...form, body: `payload=${encodeURIComponent('['.repeat(50) + ']'.repeat(50))}` }, 422],
      [github, { body: '{"__proto__":1}' }, 400],
      [github, { body: '{"action":{"a":1}}', type: 'issues' }, 202],
      [github, { body: 'null', type: '__proto__' }, 202],
      [github, { body: '[]', type: 'constructor' }, 202],
      [github, { body: '7', id: 'ü' }, 202],
      [stripe, { ...form, body: 'a=1' }, 415],
      [stripe, { body: '{"id":{"$":1},"type":[]}' }, 202],
      [stripe, { body: '{"id":"\\ud800"}' }, 422],
      [stripe, { body: '' }, 400],
      [stripe, { body: '{"id":"evt_1","type":"__proto__"}' }, 202],
    ]
    for (const [one, parcel, status] of cases)
      t.equal(
        (await one.deliver(parcel)).status,
        status,
        `${one.provider}: ${String(parcel.body).slice(0, 60)}`,
      )
    const receipts = await workspace.database.webhookRejection.count()
    t.ok(receipts > 0)
  },
)

function administratorOf({ id }: Workspace) {
  return { database: api.app.database, workspaceId: id, actor: 'cli:tests' }
}
