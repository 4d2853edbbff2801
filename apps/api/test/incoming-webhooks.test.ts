import {
  createSealer,
  type NewSigningSecret,
  retireSigningSecret,
  revokeSigningSecret,
  sealingContext,
} from '@automation/access'
import { newId } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import { readSigningKey, signWebhook } from '@automation/webhooks'
import { Redis } from 'ioredis'
import t from 'tap'
import { askPatiently, encryptionKey, startApi, type Workspace } from './fixtures/api.js'
import { makeSender, nowText, provider, type Sender } from './fixtures/sender.js'

const api = await startApi(t)
const workspace = await api.makeWorkspace()
const sender = await makeSender(api, workspace)
const nextKey = Buffer.alloc(32, 'next').toString('base64')
const path = (name: string, id: string) => `/api/incoming-webhooks/${name}/${id}`

t.test('a signed webhook is accepted once, and a replay returns the first receipt', async (t) => {
  const id = newId()
  const first = await sender.deliver({ id })
  t.equal(first.status, 202)
  t.match(first.body, { receiptState: 'accepted', deduplicated: false })
  const replay = await sender.deliver({ id, timestamp: nowText(-5) })
  t.equal(replay.status, 200)
  t.strictSame(replay.body, { ...first.body, deduplicated: true })
  t.equal(await workspace.database.webhookReceipt.count({ where: { key: id } }), 1)
})

t.test('a replay is recognized without Redis, too', async (t) => {
  const id = newId()
  const first = await sender.deliver({ id })
  t.equal((await sender.deliver({ id })).status, 200, 'and what it said is kept in Redis')
  await forget(id)
  const replay = await sender.deliver({ id })
  t.equal(replay.status, 200)
  t.strictSame(replay.body, { ...first.body, deduplicated: true })
  await forget(id)
  t.equal((await sender.deliver({ id, body: '{"hello":"moon"}' })).status, 422, 'and so is another body')
})

t.test(
  'a webhook whose receipt was lost in a failover of Postgres is accepted when it comes again',
  async (t) => {
    const id = newId()
    const generation = () => '7/1'
    t.intercept(api.app.database, 'generation', { value: generation })
    t.equal((await sender.deliver({ id })).status, 202)
    t.equal((await sender.deliver({ id })).status, 200, 'and what it said is kept in Redis')
    await remembered(id)
    await workspace.database.webhookReceipt.deleteMany({ where: { key: id } })
    t.equal((await sender.deliver({ id })).status, 200, 'as long as Postgres is the same')
    t.intercept(api.app.database, 'generation', { value: () => '7/2' })
    t.match(await sender.deliver({ id }), { status: 202, body: { deduplicated: false } })
  },
)

t.test('a repeated webhook adds no event in any form of delivery', async (t) => {
  const own = await api.makeWorkspace()
  const { deliver } = await makeSender(api, own)
  const body = JSON.stringify({ type: 'lead.created', data: {} })
  const [id, other] = [newId(), newId()]
  const first = await deliver({ id, body })
  const replay = async (text = body) => (await deliver({ id, body: text })).status
  t.equal(await replay(), 200)
  t.equal(await replay(), 200, 'and what it said is kept in Redis')
  t.equal(await replay('{}'), 422, 'with another body')
  await forget(id)
  t.equal(await replay('{}'), 422, 'with another body, known by Postgres')
  t.equal(await replay(), 200)
  const together = await Promise.all(
    Array.from({ length: 20 }, () => askPatiently(() => deliver({ id: other, body }))),
  )
  t.equal(together.filter(({ status }) => status === 202).length, 1)
  t.strictSame([...new Set(together.map((answer) => answer.body.id))].length, 1)

  const receipts = await own.database.webhookReceipt.findMany({ orderBy: { id: 'asc' } })
  t.strictSame(
    receipts.map((receipt) => receipt.id),
    [first.body.id, together[0]?.body.id],
  )
  t.ok(
    receipts.every(({ repeatedBy }) => repeatedBy === null),
    'and a replay writes nothing',
  )
  const events = await own.database.event.findMany()
  t.strictSame(events.map((event) => event.id).sort(), receipts.flatMap(({ eventIds }) => eventIds).sort())
  t.equal(events.length, 4, 'two for each of the two webhooks')
})

t.test('the same id with another body is refused', async (t) => {
  const id = newId()
  await sender.deliver({ id, body: '{"a":1}' })
  const { status, body } = await sender.deliver<unknown>({ id, body: '{"a": 1}' })
  t.equal(status, 422)
  t.strictSame(body, {
    errors: [{ field: 'X-Idempotency-Key', message: 'Was already used with a different body' }],
  })
})

t.test('an id is unique within its workspace and provider', async (t) => {
  const id = newId()
  const neighbour = await api.makeWorkspace()
  const senders = [sender, await makeSender(api, workspace, 'another'), await makeSender(api, neighbour)]
  for (const one of senders) t.equal((await one.deliver({ id })).status, 202)
})

t.test('a webhook becomes an event, and a second one if its body has a known type', async (t) => {
  const cases: [body: unknown, types: string[]][] = [
    [{ hello: 'world' }, ['WEBHOOK_RECEIVED']],
    [{ type: 'LEAD_CREATED', data: { score: 1 } }, ['WEBHOOK_RECEIVED', 'LEAD_CREATED']],
    [{ type: 'lead.score.threshold', data: {} }, ['WEBHOOK_RECEIVED', 'LEAD_SCORE_THRESHOLD']],
    [{ type: 'lead.created', data: [1] }, ['WEBHOOK_RECEIVED']],
    [{ type: 'lead.created' }, ['WEBHOOK_RECEIVED']],
    [{ type: 'lead.exploded', data: {} }, ['WEBHOOK_RECEIVED']],
    [{ type: 'webhook.received', data: {} }, ['WEBHOOK_RECEIVED']],
    [{ type: 7, data: {} }, ['WEBHOOK_RECEIVED']],
    [[1, 2], ['WEBHOOK_RECEIVED']],
    ['text', ['WEBHOOK_RECEIVED']],
    [null, ['WEBHOOK_RECEIVED']],
  ]
  for (const [payload, types] of cases) {
    const { body, status } = await sender.deliver({ body: JSON.stringify(payload) })
    t.equal(status, 202)
    const receipt = await workspace.database.webhookReceipt.findUnique({ where: { id: body.id } })
    t.strictSame(receipt?.eventTypes, types)
    const events = await workspace.database.event.findMany({ where: { id: { in: receipt?.eventIds ?? [] } } })
    const byType = new Map(events.map((event) => [event.type, event.data]))
    t.strictSame([...byType.keys()].sort(), [...types].sort())
    t.strictSame(byType.get('WEBHOOK_RECEIVED'), { provider, receiptId: body.id, payload })
    if (types[1]) t.strictSame(byType.get(types[1]), (payload as { data: object }).data)
  }
})

t.test('every wrong credential gets the same 401', async (t) => {
  const revoked = await makeSender(api, workspace)
  await revokeSigningSecret(administrator(workspace), revoked.secretId)
  const other = await makeSender(api, workspace, 'another')
  const neighbour = await api.makeWorkspace()
  const wrong: Record<string, Parameters<Sender['deliver']>[0]> = {
    signature: { headers: { 'x-signature': `v1=${'0'.repeat(64)}` } },
    'no signature at all': { headers: { 'x-signature': 'hello' } },
    'signature id': { headers: { 'x-signature-id': newId() } },
    'signature id that is no UUID': { headers: { 'x-signature-id': 'main' } },
    'id of another provider': { headers: { 'x-signature-id': other.secretId } },
    workspace: { path: path(provider, newId()) },
    'another workspace': { path: path(provider, neighbour.id) },
    'workspace that is no UUID': { path: path(provider, 'ours') },
    provider: { path: path('nobody', workspace.id) },
    'provider with a NUL': { path: path('%00', workspace.id) },
  }
  for (const [title, parcel] of Object.entries(wrong)) {
    const { status, body } = await sender.deliver<unknown>(parcel)
    t.equal(status, 401, title)
    t.strictSame(body, { error: 'Authentication required' }, title)
  }
  t.equal((await revoked.deliver()).status, 401, 'a revoked secret')
})

t.test('a secret that has just signed is valid for no other provider or workspace', async (t) => {
  await makeSender(api, workspace, 'next-door')
  const neighbour = await api.makeWorkspace()
  for (const place of [path('next-door', workspace.id), path(provider, neighbour.id)]) {
    t.equal((await sender.deliver()).status, 202)
    t.equal((await sender.deliver({ path: place })).status, 401, place)
  }
})

t.test('a timestamp may be 300 seconds off, in either direction', async (t) => {
  for (const offset of [-295, 295])
    t.equal((await sender.deliver({ timestamp: nowText(offset) })).status, 202)
  for (const timestamp of [nowText(-305), nowText(310), nowText(-100_000), `${nowText()}000`]) {
    const { status, body } = await sender.deliver<unknown>({ timestamp })
    t.equal(status, 401)
    t.strictSame(body, { error: 'Timestamp is outside the accepted window' })
  }
  const { status } = await sender.deliver({ timestamp: nowText(-400), headers: { 'x-signature': 'v1=00' } })
  t.equal(status, 401)
})

t.test('missing and impossible headers are 400', async (t) => {
  for (const name of ['x-idempotency-key', 'x-timestamp', 'x-signature', 'x-signature-id']) {
    const { status, body } = await sender.deliver<{ error: string }>({ headers: { [name]: undefined } })
    t.equal(status, 400, name)
    t.equal(body.error.toLowerCase(), `header ${name} is required`)
  }
  for (const id of ['a b', 'ü', 'x'.repeat(256), 'a,b', 'a/b', 'a.b'])
    t.equal((await sender.deliver({ id })).status, 400, id)
  for (const timestamp of ['soon', '-1', '1.5', '1e9', '0x10', ' '])
    t.equal((await sender.deliver({ timestamp })).status, 400, timestamp)
})

t.test('a body that is not JSON, or cannot be stored, is refused', async (t) => {
  t.equal((await sender.deliver({ body: '{"a":' })).status, 400)
  t.equal((await sender.deliver({ body: '' })).status, 400)
  t.equal((await sender.deliver({ body: Buffer.from([0x22, 0xff, 0x22]) })).status, 400)
  t.equal((await sender.deliver({ body: '{"__proto__":{"a":1}}' })).status, 400)
  t.equal((await sender.deliver({ body: '{"a":"\\u0000"}' })).status, 422)
  t.equal((await sender.deliver({ body: '{"a":"\\ud800"}' })).status, 422)
  t.equal((await sender.deliver({ body: '['.repeat(50) + ']'.repeat(50) })).status, 422)
  t.equal((await sender.deliver({ headers: { 'content-type': 'text/plain' } })).status, 415)
  t.equal(
    (await sender.deliver({ headers: { 'content-type': 'application/json; charset=utf-8' } })).status,
    202,
  )
  t.equal((await sender.deliver({ body: `"${'x'.repeat(1_048_577)}"` })).status, 413)
  t.equal((await api.call('GET', path(provider, workspace.id))).status, 405)
})

t.test('several signatures, bare hex and upper case are accepted', async (t) => {
  const id = newId()
  const timestamp = nowText()
  const body = '{}'
  const right = signWebhook(sender.key, { id, timestamp, body })
  for (const signature of [
    right.slice(3),
    right.slice(3).toUpperCase(),
    `v1=${'0'.repeat(64)}, ${right}`,
    `${right},v2=unheard-of`,
  ]) {
    const answer = await sender.deliver({ id, timestamp, body, headers: { 'x-signature': signature } })
    t.ok(answer.status === 202 || answer.status === 200, signature)
  }
})

t.test('a retired secret is valid until the end of its overlap, and a revoked one is not', async (t) => {
  const retiring = await makeSender(api, workspace)
  await retireSigningSecret(administrator(workspace), retiring.secretId, 60_000)
  t.equal((await retiring.deliver()).status, 202)
  await retireSigningSecret(administrator(workspace), retiring.secretId, -1)
  await untilRefused(retiring)
  const revoked = await makeSender(api, workspace)
  t.equal((await revoked.deliver()).status, 202)
  await revokeSigningSecret(administrator(workspace), revoked.secretId)
  await untilRefused(revoked)
  const here = await makeSender(api, workspace)
  t.equal((await here.deliver()).status, 202)
  await workspace.call('DELETE', `/api/developer/v1/signing-secrets/${here.secretId}`)
  t.equal((await here.deliver()).status, 401, 'at once, where the same process has revoked it')
})

t.test('a refusal is stored with its reason if workspace and provider exist', async (t) => {
  const own = await api.makeWorkspace()
  const one = await makeSender(api, own)
  const id = newId()
  const timestamp = nowText()
  const hex = signWebhook(one.key, { id, timestamp, body: '{}' }).slice(3)
  await one.deliver({
    id,
    timestamp,
    body: '{}',
    headers: { 'x-signature': Buffer.from(hex, 'hex').toString('base64') },
  })
  await one.deliver({ timestamp: nowText(-1_000) })
  await one.deliver({ headers: { 'x-timestamp': undefined } })
  await one.deliver({ body: '{' })
  await one.deliver({ body: `{"${'a'.repeat(50_000)}":"\\u0000"}` })
  await one.deliver({ body: '['.repeat(50) + ']'.repeat(50) })
  await one.deliver({ id: 'known' })
  await one.deliver({ id: 'known', body: '{}' })
  await one.deliver({ path: path('nobody', own.id) })
  await one.deliver({ headers: { 'content-type': 'text/plain' } })
  await one.deliver({ body: `"${'x'.repeat(1_048_577)}"` })
  const rows = () => own.database.webhookRejection.findMany({ orderBy: { id: 'asc' } })
  while ((await rows()).length < 9) await new Promise((resolve) => setTimeout(resolve, 10))
  const found = (await rows()).map(({ reason, verified, provider }) => ({ reason, verified, provider }))
  t.strictSame(
    found.sort((left, right) => left.reason.localeCompare(right.reason)),
    [
      { reason: 'body', verified: true, provider },
      { reason: 'body', verified: true, provider },
      { reason: 'body', verified: true, provider },
      { reason: 'content_type', verified: false, provider },
      { reason: 'header', verified: false, provider },
      { reason: 'reused_id', verified: true, provider },
      { reason: 'signature', verified: false, provider },
      { reason: 'size', verified: false, provider },
      { reason: 'timestamp', verified: true, provider },
    ],
  )
  t.ok(JSON.stringify(await rows()).length < 20_000, 'of a name that the sender has chosen, the start')
  const signature = (await rows()).find(({ reason }) => reason === 'signature')
  t.match(JSON.stringify(signature?.findings), /base64/i)
  t.notMatch(JSON.stringify(signature?.findings), hex, 'never the signature that was expected')
})

t.test('a delivery that is refused for its headers carries the findings about them', async (t) => {
  const own = await api.makeWorkspace()
  const one = await makeSender(api, own)
  const refused = await one.deliver({ body: '{}', headers: { 'x-timestamp': undefined } })
  t.match(refused, { status: 400, body: { error: 'Header X-Timestamp is required' } })
  const read = () => own.database.webhookRejection.findFirst()
  while ((await read()) === null) await new Promise((resolve) => setTimeout(resolve, 10))
  t.match(await read(), { reason: 'header', findings: [{ code: 'header_missing', message: /x-timestamp/ }] })
  await own.database.webhookRejection.deleteMany()
  await one.deliver({ timestamp: 'soon' })
  while ((await read()) === null) await new Promise((resolve) => setTimeout(resolve, 10))
  const said = 'The response said: Header X-Timestamp must be Unix seconds.'
  matchLists(t, (await read())?.findings, [{ code: 'refused', message: said }])
})

t.test('a provider that signs in its own way is named', async (t) => {
  const own = await api.makeWorkspace()
  const one = await makeSender(api, own)
  const ours = ['x-idempotency-key', 'x-timestamp', 'x-signature-id', 'x-signature']
  const none = Object.fromEntries(ours.map((name) => [name, undefined]))
  const form = 'application/x-www-form-urlencoded'
  await one.deliver({ headers: { ...none, 'stripe-signature': 't=1,v1=00' } })
  await one.deliver({ headers: { ...none, 'x-hub-signature-256': 'sha256=00', 'content-type': form } })
  const read = () => own.database.webhookRejection.findMany({ orderBy: { id: 'asc' } })
  while ((await read()).length < 2) await new Promise((resolve) => setTimeout(resolve, 10))
  matchLists(t, await read(), [
    { reason: 'signature', findings: [{ code: 'foreign_scheme', message: /Stripe/ }] },
    { reason: 'signature', findings: [{ code: 'foreign_scheme', message: /GitHub/ }] },
  ])
})

t.test('of a burst of refusals, the newest one is stored, too', async (t) => {
  const own = await api.makeWorkspace()
  const one = await makeSender(api, own)
  for (let at = 0; at < 100; at++) await one.deliver({ id: `burst_${at}`, timestamp: nowText(-1_000) })
  const find = () => own.database.webhookRejection.findFirst({ where: { key: 'burst_99' } })
  while (!(await find())) await new Promise((resolve) => setTimeout(resolve, 50))
  t.ok((await own.database.webhookRejection.count()) < 50, 'and not the others')
})

t.test('the signature diagnosis finds the active secret among many revoked ones', async (t) => {
  const own = await api.makeWorkspace()
  const one = await makeSender(api, own)
  await own.database.signingSecret.createMany({
    data: Array.from({ length: 60 }, () => ({
      id: newId(),
      workspaceId: own.id,
      provider,
      sealed: Buffer.alloc(60),
      revokedAt: new Date(),
    })),
  })
  const parts = { id: newId(), timestamp: nowText() }
  const signature = signWebhook(one.key, { ...parts, body: '{"a": 1}' })
  await one.deliver({ ...parts, body: '{"a":1}', headers: { 'x-signature': signature } })
  const read = () => own.database.webhookRejection.findFirst()
  while ((await read()) === null) await new Promise((resolve) => setTimeout(resolve, 10))
  matchLists(t, (await read())?.findings, [{ code: 'body_changed', message: /json\.dumps/ }])
})

t.test(
  'failed signatures consume from the bucket of the IP, accepted ones from the workspace’s',
  async (t) => {
    const limited = await startApi(t, { RATE_LIMIT_ANONYMOUS: '1/3', RATE_LIMIT_ENTERPRISE: '1/5' })
    const own = await limited.makeWorkspace()
    const one = await makeSender(limited, own)
    const bad = { headers: { 'x-signature': 'v1=00' }, remoteAddress: '203.0.113.7' }
    const refused: number[] = []
    for (let count = 0; count < 5; count++) refused.push((await one.deliver(bad)).status)
    t.strictSame(refused, [401, 401, 401, 429, 429])
    const large = await one.deliver({ ...bad, body: `"${'x'.repeat(2 ** 20)}"` })
    t.equal(large.status, 413, 'it would be too large later, too')
    const statuses: number[] = []
    const signed = { remoteAddress: '203.0.113.7' }
    for (const body of ['{', '{}', '{}', '{}', '{}', '{']) {
      const answer = await one.deliver({ ...signed, body })
      statuses.push(answer.status)
      t.equal(answer.headers['x-ratelimit-limit'], '5')
    }
    t.strictSame(statuses, [400, 202, 202, 202, 202, 429], 'the empty bucket of the IP does not matter')
    t.equal(
      (await own.call('GET', '/api/automation-rules')).status,
      200,
      'webhooks do not consume from the members’ buckets',
    )
  },
)

t.test('without Redis, webhooks are accepted and deduplicated, too', async (t) => {
  const away = await startApi(t, { REDIS_URL: 'redis://127.0.0.1:1' })
  const own = await away.makeWorkspace()
  const one = await makeSender(away, own)
  const id = newId()
  t.equal((await one.deliver({ id })).status, 202)
  t.equal((await one.deliver({ id })).status, 200)
  t.equal((await one.deliver({ id, body: '[]' })).status, 422)
})

t.test('the last use of a secret is recorded', async (t) => {
  const own = await api.makeWorkspace()
  const one = await makeSender(api, own)
  await one.deliver()
  const read = () => own.database.signingSecret.findUnique({ where: { id: one.secretId } })
  while ((await read())?.lastUsedAt === null) await new Promise((resolve) => setTimeout(resolve, 10))
  t.ok((await read())?.lastUsedAt)
})

t.test('a secret that does not open is refused like an unknown one, and one log line names it', async (t) => {
  const wrong = await startApi(t, { ENCRYPTION_KEY: nextKey, METRICS_PORT: '0' })
  const errors = t.capture(wrong.app.log, 'error')
  const bare = (signatureId: string) => ({
    body: '{}',
    headers: {
      'x-idempotency-key': newId(),
      'x-timestamp': nowText(),
      'x-signature-id': signatureId,
      'x-signature': 'v1=00',
    },
  })
  const at = path(provider, workspace.id)
  const unknown = await wrong.call('POST', at, bare(newId()))
  t.equal(unknown.status, 401)
  const other = await makeSender(api, workspace)
  for (const id of [sender.secretId, sender.secretId, other.secretId]) {
    const { status, body, headers } = await wrong.call('POST', at, bare(id))
    t.strictSame({ status, body }, { status: 401, body: unknown.body })
    t.strictSame(Object.keys(headers), Object.keys(unknown.headers))
  }
  const elsewhere = await makeSender({ ...api, call: wrong.call }, workspace)
  t.equal((await elsewhere.deliver()).status, 401, 'also where it is rightly signed')
  const lines = errors.args()
  t.equal(lines.length, 1)
  t.match(lines, [[{ secretId: sender.secretId }, /cannot be decrypted with ENCRYPTION_KEY/]])
  const scraped = await fetch(`http://127.0.0.1:${wrong.app.metricsPort}/metrics`)
  t.match(await scraped.text(), /^automation_webhook_unopened_secrets_total 4$/m)
})

t.test('a secret that did not open is accepted as soon as it is sealed with a key that opens', async (t) => {
  const wrong = await startApi(t, { ENCRYPTION_KEY: nextKey })
  const one = await makeSender({ ...api, call: wrong.call }, workspace)
  t.equal((await one.deliver()).status, 401)
  const stored = await workspace.database.signingSecret.findUniqueOrThrow({ where: { id: one.secretId } })
  const sealed = createSealer(`${nextKey},${encryptionKey}`).reseal(stored.sealed, sealingContext(stored))
  await workspace.database.signingSecret.update({
    where: { id: one.secretId },
    data: { sealed: sealed ?? stored.sealed },
  })
  t.equal((await one.deliver()).status, 202)
})

t.test('webhooks are accepted at each step of a change of ENCRYPTION_KEY', async (t) => {
  const own = await api.makeWorkspace()
  const steps = [encryptionKey, `${encryptionKey},${nextKey}`, `${nextKey},${encryptionKey}`]
  const apis = await Promise.all(steps.map((ENCRYPTION_KEY) => startApi(t, { ENCRYPTION_KEY })))
  const secrets = '/api/developer/v1/signing-secrets'
  const made = await Promise.all(
    apis.map(({ call }) =>
      call<NewSigningSecret>('POST', secrets, {
        token: own.tokens.admin,
        workspace: own.id,
        body: { provider },
      }),
    ),
  )
  const isOpened = await Promise.all(
    made.map(({ body: { id, secret } }) =>
      Promise.all(
        apis.map(async ({ call }) => {
          const parcel = { id: newId(), timestamp: nowText(), body: '{}' }
          const { status } = await call('POST', path(provider, own.id), {
            body: parcel.body,
            headers: {
              'x-idempotency-key': parcel.id,
              'x-timestamp': parcel.timestamp,
              'x-signature-id': id,
              'x-signature': signWebhook(readSigningKey(secret), parcel),
            },
          })
          return status === 202
        }),
      ),
    ),
  )
  // Each row is a step whose process made the secret. Neighbouring steps run side by side, and open each other's secrets.
  t.strictSame(isOpened, [
    [true, true, true],
    [true, true, true],
    [false, true, true],
  ])
})

function administrator({ id }: Workspace) {
  return { database: api.app.database, workspaceId: id, actor: 'cli:tests' }
}

/** Another process sees a change of the database a moment later. */
async function untilRefused(one: Sender): Promise<void> {
  while ((await one.deliver()).status !== 401);
}

/** Waits until a webhook is in Redis. */
async function remembered(id: string): Promise<void> {
  const redis = new Redis(api.config.redisUrl)
  while ((await redis.keys(`${api.config.queuePrefix}:webhook:*:${id}`)).length === 0);
  redis.disconnect()
}

/** Takes a webhook from Redis, where it comes right after its first replay. */
async function forget(id: string): Promise<void> {
  const redis = new Redis(api.config.redisUrl)
  const pattern = `${api.config.queuePrefix}:webhook:*:${id}`
  for (let removed = 0; removed === 0; ) {
    const keys = await redis.keys(pattern)
    removed = keys.length === 0 ? 0 : await redis.del(keys)
  }
  redis.disconnect()
}
