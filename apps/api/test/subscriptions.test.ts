import { createSealer, createSigningSecret } from '@automation/access'
import { newId, type Prisma } from '@automation/database'
import type { ActionResult } from '@automation/engine'
import { matchLists } from '@automation/launcher/match-lists'
import { readSigningKey, signWebhook } from '@automation/webhooks'
import t from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import {
  type Answer,
  askPatiently,
  encryptionKey,
  ruleBody,
  rules,
  startApi,
  type Workspace,
} from './fixtures/api.js'
import { makeSender, nowText, provider } from './fixtures/sender.js'

interface Subscription {
  id: string
  url: string
  description: string
  eventTypes: string[]
  isActive: boolean
  createdAt: string
  secret: string
}
interface Faults {
  errors: { field: string; message: string }[]
}

const api = await startApi(t)
const subscriptions = '/api/developer/v1/subscriptions'
const secrets = '/api/developer/v1/signing-secrets'
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const url = 'https://example.com/hooks'
const statusAndBody = ({ status, body }: Answer) => ({ status, body })
const fieldsOf = ({ status, body }: Answer) => [
  status,
  ...((body as Faults).errors ?? []).map(({ field }) => field).sort(),
]

async function subscribe({ call }: Workspace, ...eventTypes: string[]): Promise<Subscription> {
  const { status, body } = await call<Subscription>('POST', subscriptions, { body: { url, eventTypes } })
  if (status !== 201) throw new Error(`Nothing was subscribed: ${status} ${JSON.stringify(body)}`)
  return body
}
const listPublished = ({ database }: Workspace, addresseeId: string) =>
  database.event.findMany({ where: { addresseeId }, orderBy: { id: 'asc' } })

t.test('a subscription is created, read, changed and deleted', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  const made = await call<Subscription>('POST', subscriptions, {
    body: { url, eventTypes: ['rule.paused', 'execution.failed'], description: 'Ops' },
  })
  t.equal(made.status, 201)
  const { secret, ...subscription } = made.body
  const path = `${subscriptions}/${subscription.id}`
  t.match(made.headers, { location: path, 'cache-control': 'no-store' })
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  matchLists(t, subscription, {
    url,
    description: 'Ops',
    eventTypes: ['rule.paused', 'execution.failed'],
    isActive: true,
    createdAt: timestamp,
  })
  t.strictSame(statusAndBody(await call('GET', path)), { status: 200, body: subscription })
  t.strictSame(
    (await call('GET', path.toUpperCase().replace(subscriptions.toUpperCase(), subscriptions))).body,
    subscription,
  )
  const second = await subscribe(workspace, 'rule.updated')
  matchLists(t, (await call('GET', subscriptions)).body, { data: [{ id: second.id }, subscription] })
  t.notMatch(JSON.stringify((await call('GET', subscriptions)).body), 'whsec_')

  const changes = { isActive: false, url: 'http://example.com' }
  const changed = await call('PATCH', path, { body: changes })
  t.strictSame(statusAndBody(changed), { status: 200, body: { ...subscription, ...changes } })
  t.strictSame((await call('PATCH', path, { body: {} })).body, changed.body)

  t.strictSame(statusAndBody(await call('DELETE', path)), { status: 204, body: undefined })
  const gone = { status: 404, body: { error: 'Subscription not found' } }
  for (const method of ['GET', 'DELETE'] as const) t.strictSame(statusAndBody(await call(method, path)), gone)
  t.strictSame(statusAndBody(await call('PATCH', path, { body: {} })), gone)
  t.strictSame(statusAndBody(await call('POST', `${path}/test`)), gone)
  t.strictSame(statusAndBody(await call('GET', `${path}/deliveries`)), gone)
  matchLists(t, (await call('GET', `${secrets}?provider=${subscription.id}`)).body, {
    data: [{ direction: 'outgoing', state: 'revoked' }],
  })
})

t.test('all faults are reported at once', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id } = await subscribe(workspace, 'rule.updated')
  const good = { url, eventTypes: ['rule.updated'] }
  const bodies: [body: unknown, created: unknown[], updated: unknown[]][] = [
    [{}, [422, 'eventTypes', 'url'], [200]],
    [{ ...good, url: 'ftp://x' }, [422, 'url'], [422, 'url']],
    [{ ...good, url: 'https://a:b@x' }, [422, 'url'], [422, 'url']],
    [{ ...good, url: 'https://x/{{y}}' }, [422, 'url'], [422, 'url']],
    [{ ...good, url: `https://x/${'y'.repeat(2_000)}` }, [422, 'url'], [422, 'url']],
    [{ ...good, url: 'https://x/\0' }, [422, 'url'], [422, 'url']],
    [{ ...good, url: null }, [422, 'url'], [422, 'url']],
    [{ ...good, eventTypes: [] }, [422, 'eventTypes'], [422, 'eventTypes']],
    [{ ...good, eventTypes: ['rule.updated', 'rule.updated'] }, [422, 'eventTypes'], [422, 'eventTypes']],
    [{ ...good, eventTypes: ['receipt.accepted'] }, [422, 'eventTypes[0]'], [422, 'eventTypes[0]']],
    [{ ...good, eventTypes: ['subscription.ping'] }, [422, 'eventTypes[0]'], [422, 'eventTypes[0]']],
    [{ ...good, eventTypes: ['*'] }, [422, 'eventTypes[0]'], [422, 'eventTypes[0]']],
    [{ ...good, eventTypes: 'rule.updated' }, [422, 'eventTypes'], [422, 'eventTypes']],
    [{ ...good, description: 'x'.repeat(2_001) }, [422, 'description'], [422, 'description']],
    [
      { url: 'x', eventTypes: ['x'], isActive: 'yes', id: newId(), secret: 'whsec_' },
      [422, 'eventTypes[0]', 'id', 'isActive', 'secret', 'url'],
      [422, 'eventTypes[0]', 'id', 'isActive', 'secret', 'url'],
    ],
    [[], [400], [400]],
    [undefined, [400], [400]],
  ]
  for (const [body, created, updated] of bodies) {
    const title = JSON.stringify(body)?.slice(0, 100)
    t.strictSame(fieldsOf(await workspace.call('POST', subscriptions, { body })), created, title)
    t.strictSame(fieldsOf(await workspace.call('PATCH', `${subscriptions}/${id}`, { body })), updated, title)
  }
  const none = await workspace.call('POST', subscriptions, { body: {} })
  t.strictSame(none.body, {
    errors: [
      { field: 'url', message: 'Required' },
      { field: 'eventTypes', message: 'Required' },
    ],
  })
  t.equal(await workspace.database.subscription.count(), 1)
})

t.test('of many concurrent new subscriptions, 20 are created', async (t) => {
  const workspace = await api.makeWorkspace()
  const body = { url, eventTypes: ['rule.updated'] }
  const answers = await Promise.all(
    Array.from({ length: 22 }, () => askPatiently(() => workspace.call('POST', subscriptions, { body }))),
  )
  const refused = answers.filter(({ status }) => status !== 201)
  const conflict = { status: 409, body: { error: 'A workspace may have 20 subscriptions' } }
  t.strictSame(refused.map(statusAndBody), [conflict, conflict])
})

t.test(
  'a test sends a ping to an active subscription, and returns the location of its outcome',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const { id } = await subscribe(workspace, 'rule.updated')
    const path = `${subscriptions}/${id}`
    const { status, headers, body } = await workspace.call<{ id: string }>('POST', `${path}/test`)
    t.equal(status, 202)
    t.strictSame(body, { id: body.id, status: 'accepted' })
    t.equal(headers.location, `/api/executions/${body.id}`)
    t.match((await workspace.call('GET', String(headers.location))).body, { id: body.id, status: 'pending' })
    const [event] = await listPublished(workspace, id)
    t.match(event, { id: body.id, type: 'subscription.ping', data: { subscriptionId: id, at: timestamp } })
    await workspace.call('PATCH', path, { body: { isActive: false } })
    t.strictSame(statusAndBody(await workspace.call('POST', `${path}/test`)), {
      status: 409,
      body: { error: 'The subscription is switched off' },
    })
    t.equal((await listPublished(workspace, id)).length, 1)
  },
)

t.test('deliveries are listed with their state, newest first', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id } = await subscribe(workspace, 'rule.updated')
  const other = await subscribe(workspace, 'rule.updated')
  const path = `${subscriptions}/${id}/deliveries`
  t.strictSame((await workspace.call('GET', path)).body, { data: [], nextCursor: null })

  const startedAt = '2026-01-02T03:04:05.678Z'
  const attempt = (fields: object) => ({ startedAt, finishedAt: startedAt, ...fields })
  const refused = attempt({ error: 'HTTP 503', output: { statusCode: 503, body: 'later' } })
  const silent = attempt({ error: 'Timed out after 10000 ms' })
  const call = (fields: Partial<ActionResult>) => ({
    action: 'SEND_WEBHOOK',
    status: 'failed' as const,
    ...fields,
  })
  const dueAt = new Date('2026-01-02T04:00:00Z')
  const rows = [
    { status: 'cancelled' as const, error: 'The subscription was switched off', results: [] },
    { status: 'running' as const, dueAt, results: [call({ status: 'running', attempts: [{ startedAt }] })] },
    {
      status: 'retrying' as const,
      dueAt,
      results: [call({ status: 'retrying', attempts: [silent, refused] })],
    },
    {
      status: 'failed' as const,
      error: 'Timed out after 10000 ms',
      results: [call({ attempts: [refused, silent] })],
    },
    {
      status: 'succeeded' as const,
      results: [
        call({
          status: 'success',
          output: { statusCode: 204 },
          attempts: [silent, attempt({ output: { statusCode: 204 } })],
        }),
      ],
    },
    { status: 'succeeded' as const, results: [call({ status: 'success', output: { statusCode: 200 } })] },
  ]
  for (const handlerId of [id, other.id])
    await workspace.database.execution.createMany({
      data: rows.map((row) => {
        const eventId = newId()
        const fields = { id: eventId, eventId, workspaceId: workspace.id, handlerId }
        const results = row.results as Prisma.InputJsonValue
        return { ...fields, eventType: 'rule.updated', ruleVersion: 1, startedAt, ...row, results }
      }),
    })
  const { body } = await workspace.call<{ data: { id: string }[] }>('GET', path)
  const common = { eventType: 'rule.updated', createdAt: startedAt, dueAt: null, error: null }
  matchLists(t, body.data.toReversed(), [
    {
      ...common,
      status: 'cancelled',
      attempts: 0,
      lastStatusCode: null,
      error: 'The subscription was switched off',
    },
    { ...common, status: 'running', attempts: 1, lastStatusCode: null },
    {
      ...common,
      status: 'retrying',
      attempts: 2,
      lastStatusCode: 503,
      error: 'HTTP 503',
      dueAt: dueAt.toISOString(),
    },
    { ...common, status: 'failed', attempts: 2, lastStatusCode: null, error: 'Timed out after 10000 ms' },
    { ...common, status: 'succeeded', attempts: 2, lastStatusCode: 204 },
    { ...common, status: 'succeeded', attempts: 0, lastStatusCode: 200 },
  ])
  t.equal(body.data.length, rows.length)

  const ids: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Answer<{ data: { id: string }[]; nextCursor: string | null }> = await workspace.call(
      'GET',
      `${path}?limit=4${cursor && `&cursor=${cursor}`}`,
    )
    ids.push(...page.body.data.map((delivery) => delivery.id))
    cursor = page.body.nextCursor
  }
  t.strictSame(
    ids,
    body.data.map((delivery) => delivery.id),
  )
  for (const query of ['limit=0', 'limit=251', 'cursor=x'])
    t.equal((await workspace.call('GET', `${path}?${query}`)).status, 400, query)
})

t.test(
  'each change of a rule is published once, but no refused one and none without an effect',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const { call, callAs, users } = workspace
    const all = await subscribe(
      workspace,
      ...['created', 'updated', 'deleted', 'activated', 'deactivated', 'cloned', 'restored', 'paused'].map(
        (what) => `rule.${what}`,
      ),
    )
    const deleted = await subscribe(workspace, 'rule.deleted')
    const { body: rule } = await call<Rule>('POST', rules, { body: ruleBody() })
    const path = `${rules}/${rule.id}`
    await callAs('editor')('PUT', path, { body: { name: 'Other' } })
    await call('PUT', path, { body: { name: 'Other' } })
    await call('PUT', path, { body: { name: 'x' }, headers: { 'if-match': '"9"' } })
    await call('PUT', path, { body: { name: '' } })
    await callAs('viewer')('PUT', path, { body: { name: 'x' } })
    await call('POST', rules, { body: ruleBody({ trigger: 'NOTHING' }) })
    await call('PATCH', `${path}/toggle`)
    await call('PATCH', `${path}/toggle`)
    const { body: clone } = await call<Rule>('POST', `${path}/clone`)
    await call('DELETE', path)
    await call('DELETE', path)

    const admin = `user:${users.admin}`
    const events = await listPublished(workspace, all.id)
    matchLists(
      t,
      events.map(({ type, data }) => [type, data]),
      [
        ['rule.created', { ruleId: rule.id, name: 'A rule', actor: admin }],
        [
          'rule.updated',
          { ruleId: rule.id, name: 'Other', actor: `user:${users.editor}`, changed: ['name'], version: 2 },
        ],
        ['rule.deactivated', { ruleId: rule.id, name: 'Other', actor: admin }],
        ['rule.activated', { ruleId: rule.id, name: 'Other', actor: admin }],
        ['rule.cloned', { ruleId: clone.id, name: 'Copy of Other', from: rule.id, actor: admin }],
        ['rule.deleted', { ruleId: rule.id, name: 'Other', actor: admin }],
      ],
    )
    t.equal(events.length, 6)
    t.ok(events.every(({ data }) => timestamp.test((data as { at: string }).at)))
    matchLists(t, await listPublished(workspace, deleted.id), [
      { type: 'rule.deleted', data: { ruleId: rule.id } },
    ])
  },
)

t.test('refused webhooks are published, up to the limit of stored rejections', async (t) => {
  const own = await startApi(t)
  const workspace = await own.makeWorkspace()
  const sender = await makeSender(own, workspace)
  const { id } = await subscribe(workspace, 'receipt.rejected')
  const silent = await subscribe(workspace, 'rule.updated')
  await sender.deliver()
  for (let count = 0; count < 40; count++)
    t.equal((await sender.deliver({ id: `evt_${count}`, timestamp: nowText(-1_000) })).status, 401)
  await own.app.close()
  const database = api.app.database.forWorkspace(workspace.id)
  const events = await listPublished({ ...workspace, database }, id)
  const rejections = await database.webhookRejection.findMany()
  const byId = new Map(rejections.map((rejection) => [rejection.id, rejection]))
  t.ok(events.length >= 30 && events.length < 40, 'a token comes back while they are sent')
  t.equal(events.length, rejections.length)
  for (const { type, data } of events) {
    const { rejectionId, ...rest } = data as { rejectionId: string }
    t.equal(type, 'receipt.rejected')
    t.strictSame(rest, { provider, key: byId.get(rejectionId)?.key, reason: 'timestamp' })
  }
  t.strictSame(await listPublished({ ...workspace, database }, silent.id), [])
  const apart = await api.app.database.system.$queryRaw`
    SELECT 1 FROM events e JOIN webhook_rejections r ON r.id::text = e.data ->> 'rejectionId' AND r.xmin <> e.xmin
    WHERE e.addressee_id = ${id}::uuid`
  t.strictSame(apart, [], 'both are written, or none')
})

t.test('an outgoing secret verifies no incoming webhook', async (t) => {
  const own = await startApi(t)
  const workspace = await own.makeWorkspace()
  const sender = await makeSender(own, workspace)
  const administrator = { database: api.app.database, workspaceId: workspace.id, actor: 'cli:tests' }
  const subscription = await subscribe(workspace, 'rule.updated')
  const [ofSubscription] = await workspace.database.signingSecret.findMany({
    where: { provider: subscription.id },
  })
  const make = (name: string) =>
    createSigningSecret(administrator, createSealer(encryptionKey), { provider: name, direction: 'outgoing' })
  const outgoing = [
    await make(provider),
    await make('hooks.example.com'),
    { ...subscription, provider: subscription.id, id: ofSubscription?.id ?? '' },
  ]
  for (const { id: secretId, provider: name, secret } of outgoing) {
    const [id, timestamp, body] = [newId(), nowText(), '{}']
    const answer = await sender.deliver<unknown>({
      id,
      timestamp,
      body,
      path: `/api/incoming-webhooks/${name}/${workspace.id}`,
      headers: {
        'x-signature-id': secretId,
        'x-signature': signWebhook(readSigningKey(secret), { id, timestamp, body }),
      },
    })
    t.strictSame(statusAndBody(answer), { status: 401, body: { error: 'Authentication required' } }, name)
  }
  t.equal((await sender.deliver()).status, 202)
  await own.app.close()

  const database = api.app.database.forWorkspace(workspace.id)
  const rejections = await database.webhookRejection.findMany()
  t.strictSame(
    rejections.map((rejection) => rejection.provider),
    [provider],
    'a provider that only has an outgoing one is unknown',
  )
  const findings = JSON.stringify(rejections[0]?.findings)
  t.match(findings, /unknown_signature_id/)
  t.match(findings, /no_match/, 'nor is it tried')
  for (const { id } of outgoing) t.notMatch(findings, id)
  const rows = await database.signingSecret.findMany({ where: { direction: 'outgoing' } })
  t.ok(rows.every(({ lastUsedAt }) => lastUsedAt === null))
  t.equal(await database.webhookReceipt.count(), 1)
})

t.test('an outgoing secret is for a host, or for a subscription that exists', async (t) => {
  const workspace = await api.makeWorkspace()
  const other = await api.makeWorkspace()
  const { id } = await subscribe(workspace, 'rule.updated')
  const theirs = await subscribe(other, 'rule.updated')
  const post = (provider: string, direction?: unknown) =>
    workspace.call<{ id: string; direction: string }>('POST', secrets, { body: { provider, direction } })
  const host = await post('hooks.example.com', 'outgoing')
  t.match(host, {
    status: 201,
    body: { direction: 'outgoing', provider: 'hooks.example.com', state: 'active' },
  })
  const second = await post(id, 'outgoing')
  t.equal(second.status, 201)
  const incoming = await post(newId())
  t.match(incoming, { status: 201, body: { direction: 'incoming' } })
  for (const unknown of [newId(), theirs.id]) {
    const { status, body } = await post(unknown, 'outgoing')
    t.equal(status, 422)
    t.strictSame(body, { errors: [{ field: 'provider', message: 'No subscription has this id' }] })
  }
  for (const direction of ['both', null, 5])
    t.strictSame(fieldsOf(await post('x', direction)), [422, 'direction'])
  t.strictSame(fieldsOf(await post('Hooks.Example.com', 'outgoing')), [422, 'provider'])

  const list = async (query: string) =>
    (await workspace.call<{ data: { id: string }[] }>('GET', `${secrets}?${query}`)).body.data.map(
      (secret) => secret.id,
    )
  t.strictSame(await list('direction=incoming'), [incoming.body.id])
  t.equal((await list('direction=outgoing')).length, 3)
  t.strictSame((await list(`direction=outgoing&provider=${id}`))[0], second.body.id)
  t.equal((await workspace.call('GET', `${secrets}?direction=both`)).status, 400)
  t.match(await workspace.call('POST', `${secrets}/${second.body.id}/retire`, { body: { overlap: '1h' } }), {
    status: 200,
    body: { state: 'retiring', direction: 'outgoing' },
  })
  t.equal((await workspace.call('DELETE', `${secrets}/${host.body.id}`)).status, 204)
})
