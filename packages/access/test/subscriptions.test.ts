import { randomBytes } from 'node:crypto'
import { newId, openPatiently } from '@automation/database'
import { readSigningKey } from '@automation/webhooks'
import t from 'tap'
import { type Administrator, changeWorkspace } from '../src/change-workspace.js'
import { createSealer } from '../src/sealing.js'
import { publish, type ServiceEventType } from '../src/service-events.js'
import {
  createSigningSecret,
  listSigningSecrets,
  revokeSigningSecret,
  sealingContext,
} from '../src/signing-secrets.js'
import {
  createSubscription,
  deleteSubscription,
  findSubscription,
  findSubscriptionUrlFault,
  listSubscriptions,
  pingSubscription,
  subscriptionRetry,
  updateSubscription,
} from '../src/subscriptions.js'
import { createWorkspace } from '../src/workspaces.js'
import { matchRows } from './fixtures/match-rows.js'

const database = openPatiently(process.env.DATABASE_URL ?? '', 5)
t.teardown(() => database.close())
const actor = 'cli:tests'
const sealer = createSealer(randomBytes(32).toString('base64'))
const url = 'https://example.com/hooks'

async function makeAdministrator(): Promise<Administrator> {
  const { id } = await createWorkspace({ database, actor }, { name: 'Tests', adminUserId: 'ada' })
  return { database, actor, workspaceId: id }
}
const own = ({ workspaceId }: Administrator) => database.forWorkspace(workspaceId)
const subscribe = (administrator: Administrator, ...eventTypes: ServiceEventType[]) =>
  createSubscription(administrator, sealer, { url, eventTypes })
const listPublished = (administrator: Administrator, addresseeId?: string) =>
  own(administrator).event.findMany({ where: addresseeId ? { addresseeId } : {}, orderBy: { id: 'asc' } })
const readLog = (administrator: Administrator) =>
  own(administrator).auditEntry.findMany({
    where: { action: { startsWith: 'subscription.' } },
    orderBy: { id: 'asc' },
  })

/** A change of a rule that does not exist; the published event contains the details of its entry. */
const change = (
  administrator: Administrator,
  action: 'rule.updated' | 'rule.deleted' | 'member.added',
  subject = newId(),
) =>
  changeWorkspace(administrator, async () => ({
    result: subject,
    entry: { action, subject, details: { name: 'Gone' } },
  }))

async function makeWaitingDelivery(
  { workspaceId }: Administrator,
  ruleId: string,
  status = 'retrying' as const,
) {
  const id = newId()
  await database.system.execution.create({
    data: {
      id,
      workspaceId,
      eventId: id,
      eventType: 'rule.updated',
      handlerId: ruleId,
      ruleVersion: 1,
      status,
      results: [],
      startedAt: new Date(),
      dueAt: new Date(Date.now() + 60_000),
    },
  })
  return id
}

t.test(
  'a subscription has a sealed secret of its own, which is not accepted for incoming webhooks',
  async (t) => {
    const administrator = await makeAdministrator()
    const { secret, ...subscription } = await subscribe(administrator, 'rule.updated', 'rule.paused')
    t.match(subscription, {
      url,
      description: '',
      eventTypes: ['rule.updated', 'rule.paused'],
      isActive: true,
    })
    t.equal(subscription.eventTypes.length, 2)
    t.strictSame(await listSubscriptions(database, administrator.workspaceId), [subscription])
    t.strictSame(await findSubscription(database, administrator.workspaceId, subscription.id), subscription)
    const [row, ...others] = await own(administrator).signingSecret.findMany()
    t.match(row, { direction: 'outgoing', provider: subscription.id })
    t.strictSame(others, [])
    t.strictSame(
      sealer.open(row?.sealed ?? Buffer.alloc(0), sealingContext(row ?? { id: '', workspaceId: '' })),
      readSigningKey(secret),
    )
    matchRows(t, await readLog(administrator), [
      {
        actor,
        action: 'subscription.created',
        subject: subscription.id,
        details: { url, secretId: row?.id },
      },
    ])
  },
)

t.test('another workspace cannot find, change, test or delete a subscription', async (t) => {
  const [administrator, other] = [await makeAdministrator(), await makeAdministrator()]
  const { id } = await subscribe(administrator, 'rule.updated')
  const refused = { code: 'subscription_not_found', message: 'Subscription not found' }
  t.equal(await findSubscription(database, other.workspaceId, id), null)
  for (const foreign of [id, newId(), 'x', '\0']) {
    await t.rejects(updateSubscription(other, foreign, { isActive: false }), refused)
    await t.rejects(deleteSubscription(other, foreign), refused)
    await t.rejects(pingSubscription(other, foreign), refused)
  }
  await t.rejects(createSigningSecret(other, sealer, { provider: id, direction: 'outgoing' }), {
    code: 'validation_failed',
    message: 'No subscription has this id',
    field: 'provider',
  })
  matchRows(t, await listSubscriptions(database, administrator.workspaceId), [{ id, isActive: true }])
  t.strictSame(await listPublished(administrator), [])
})

t.test('the URL of a subscription is http or https, without credentials and placeholders', async (t) => {
  const administrator = await makeAdministrator()
  for (const good of [
    'http://a',
    'HTTPS://Example.com:8443/x?y={z}#w',
    'https://[2001:db8::1]/',
    'https://münchen.example/🦜',
    'https://example.com/a@b',
  ])
    t.equal(findSubscriptionUrlFault(good), undefined, good)
  for (const bad of [
    '',
    'example.com',
    'ftp://example.com',
    'javascript:alert(1)',
    'https://',
    ' https://example.com',
    'https://example.com ',
    'https://exa\nmple.com',
    'https://example.com/\t',
    'https://example.com/a b',
    'https://example.com:99999',
    'https://user@example.com',
    'https://user:pass@example.com',
    'https://:pass@example.com',
    'https://public.example@127.0.0.1',
    'https://example.com/{{name}}',
    'https://example.com/?q=\\{{name}}',
  ]) {
    t.type(findSubscriptionUrlFault(bad), 'string', JSON.stringify(bad))
    const refused = { code: 'validation_failed', message: /^Must /, field: 'url' }
    await t.rejects(
      createSubscription(administrator, sealer, { url: bad, eventTypes: ['rule.updated'] }),
      refused,
    )
  }
  t.strictSame(await readLog(administrator), [])
  t.strictSame(await listSigningSecrets(own(administrator)), [])
})

t.test('a workspace has at most 20 subscriptions, even with concurrent requests', async (t) => {
  const administrator = await makeAdministrator()
  const attempts = await Promise.allSettled(
    Array.from({ length: 23 }, () => subscribe(administrator, 'rule.updated')),
  )
  const refused = attempts.filter(({ status }) => status === 'rejected')
  t.equal(refused.length, 3)
  t.match(refused[0], { reason: { code: 'limit_reached', message: 'A workspace may have 20 subscriptions' } })
  t.equal(await own(administrator).signingSecret.count(), 20, 'and no secret without a subscription')
  const [first] = await listSubscriptions(database, administrator.workspaceId)
  await deleteSubscription(administrator, first?.id ?? '')
  await subscribe(administrator, 'rule.updated')
})

t.test('a change without an effect writes no entry', async (t) => {
  const administrator = await makeAdministrator()
  const { secret: _, ...made } = await subscribe(administrator, 'rule.updated', 'rule.paused')
  const { id } = made
  t.strictSame(await updateSubscription(administrator, id, {}), made)
  t.strictSame(await updateSubscription(administrator, id, { url, eventTypes: made.eventTypes }), made)
  const changed = await updateSubscription(administrator, id, {
    url,
    description: 'Ops',
    eventTypes: ['rule.paused'],
  })
  t.strictSame(changed, { ...made, description: 'Ops', eventTypes: ['rule.paused'] })
  await t.rejects(updateSubscription(administrator, id, { url: 'x', description: 'No' }), {
    message: 'Must be an http or https URL',
    field: 'url',
  })
  matchRows(
    t,
    (await readLog(administrator)).map(({ action, details }) => [action, details]),
    [
      ['subscription.created', {}],
      ['subscription.updated', { description: 'Ops', eventTypes: ['rule.paused'] }],
    ],
  )
  t.strictSame(await findSubscription(database, administrator.workspaceId, id), changed)
})

t.test('deactivating or deleting a subscription cancels its waiting deliveries, and no others', async (t) => {
  for (const way of ['off', 'deleted'] as const) {
    const administrator = await makeAdministrator()
    const [one, other] = [
      await subscribe(administrator, 'rule.updated'),
      await subscribe(administrator, 'rule.updated'),
    ]
    const [first, second] = [
      await makeWaitingDelivery(administrator, one.id),
      await makeWaitingDelivery(administrator, one.id),
    ]
    const theirs = await makeWaitingDelivery(administrator, other.id)
    if (way === 'off') await updateSubscription(administrator, one.id, { isActive: false })
    else await deleteSubscription(administrator, one.id)
    const read = (id: string) => database.system.execution.findUnique({ where: { id } })
    const error = way === 'off' ? 'The subscription was switched off' : 'The subscription was deleted'
    for (const id of [first, second]) {
      const row = await read(id)
      t.match(row, { status: 'cancelled', error, dueAt: null, lease: null })
      t.type(row?.finishedAt, Date)
    }
    t.match(await read(theirs), { status: 'retrying', error: null })
    t.match((await readLog(administrator)).at(-1)?.details, { cancelled: 2 })
    const states = (await listSigningSecrets(own(administrator))).map(({ provider, state }) => [
      provider,
      state,
    ])
    t.strictSame(states, [
      [other.id, 'active'],
      [one.id, way === 'off' ? 'active' : 'revoked'],
    ])
  }
})

t.test('a ping goes to the tested subscription only, whatever its event types', async (t) => {
  const administrator = await makeAdministrator()
  const { id } = await subscribe(administrator, 'rule.updated')
  await subscribe(administrator, 'rule.updated')
  const delivery = await pingSubscription(administrator, id)
  matchRows(t, await listPublished(administrator), [
    { id: delivery, type: 'subscription.ping', addresseeId: id, doneAt: null, data: { subscriptionId: id } },
  ])
  await updateSubscription(administrator, id, { isActive: false })
  await t.rejects(pingSubscription(administrator, id), {
    code: 'subscription_inactive',
    message: 'The subscription is switched off',
  })
  t.equal((await listPublished(administrator)).length, 1)
})

t.test('a change is published to the active subscriptions to its type, and to no others', async (t) => {
  const [administrator, elsewhere] = [await makeAdministrator(), await makeAdministrator()]
  const both = await subscribe(administrator, 'rule.deleted', 'rule.updated')
  const one = await subscribe(administrator, 'rule.updated')
  const silent = await subscribe(administrator, 'rule.created', 'execution.failed')
  const off = await subscribe(administrator, 'rule.updated')
  await updateSubscription(administrator, off.id, { isActive: false })
  const foreign = await subscribe(elsewhere, 'rule.updated')

  const updated = await change(administrator, 'rule.updated')
  const deleted = await change(administrator, 'rule.deleted')
  await change(administrator, 'member.added')
  const read = async (id: string) =>
    (await listPublished(administrator, id)).map(({ type, data }) => [
      type,
      (data as { ruleId: string }).ruleId,
    ])
  t.strictSame(await read(both.id), [
    ['rule.updated', updated],
    ['rule.deleted', deleted],
  ])
  t.strictSame(await read(one.id), [['rule.updated', updated]])
  for (const { id } of [silent, off]) t.strictSame(await read(id), [])
  t.strictSame(await listPublished(elsewhere, foreign.id), [])

  const [event] = await listPublished(administrator, one.id)
  const entry = await own(administrator).auditEntry.findFirst({ where: { subject: updated } })
  t.match(event, { workspaceId: administrator.workspaceId, doneAt: null, ruleSetId: null, depth: 0 })
  t.match(event, { addresseeKind: 'subscription', addresseeId: one.id })
  t.strictSame(event?.data, { ruleId: updated, name: 'Gone', actor, at: entry?.at.toISOString() })
})

t.test('a change, its entry and its published events are one transaction', async (t) => {
  const administrator = await makeAdministrator()
  const { id } = await subscribe(administrator, 'rule.updated')
  const subject = await change(administrator, 'rule.updated')
  const rows = await database.system.$queryRaw<{ xmin: string }[]>`
    SELECT xmin::text FROM audit_entries WHERE subject = ${subject}
    UNION ALL SELECT xmin::text FROM events WHERE addressee_id = ${id}::uuid`
  t.equal(rows.length, 2)
  t.equal(rows[0]?.xmin, rows[1]?.xmin)
})

t.test('a change that fails, or whose entry cannot be written, publishes nothing', async (t) => {
  const administrator = await makeAdministrator()
  await subscribe(administrator, 'rule.updated')
  const failing = changeWorkspace(administrator, async (transaction) => {
    await publish(transaction, { workspaceId: administrator.workspaceId, type: 'rule.updated', data: {} })
    throw new Error('after it')
  })
  await t.rejects(failing, { message: 'after it' })
  await t.rejects(change(administrator, 'rule.updated', 'no\0text'))
  const unchanged = await changeWorkspace(administrator, async () => ({ result: 'same', entry: undefined }))
  t.equal(unchanged, 'same')
  t.strictSame(await listPublished(administrator), [])
})

t.test('an event outside of a change is published to its own workspace only', async (t) => {
  const [administrator, other] = [await makeAdministrator(), await makeAdministrator()]
  const { id } = await subscribe(administrator, 'receipt.rejected')
  await subscribe(other, 'receipt.rejected')
  const event = {
    workspaceId: administrator.workspaceId,
    type: 'receipt.rejected',
    data: { key: 'k' },
  } as const
  await publish(own(administrator), event)
  const [row, ...others] = await listPublished(administrator)
  t.match(row, { addresseeId: id, type: 'receipt.rejected', data: { key: 'k' } })
  t.strictSame(others, [])
  t.strictSame(await listPublished(other), [])
})

t.test('secrets of each direction are counted and listed separately', async (t) => {
  const administrator = await makeAdministrator()
  const { id } = await subscribe(administrator, 'rule.updated')
  const incoming = await createSigningSecret(administrator, sealer, { provider: 'billing' })
  const outgoing = await createSigningSecret(administrator, sealer, {
    provider: 'hooks.example.com',
    direction: 'outgoing',
  })
  const next = await createSigningSecret(administrator, sealer, { provider: id, direction: 'outgoing' })
  t.equal(incoming.direction, 'incoming')
  t.equal(outgoing.direction, 'outgoing')
  const list = async (wanted: Parameters<typeof listSigningSecrets>[1]) =>
    (await listSigningSecrets(own(administrator), wanted)).map((secret) => secret.id)
  t.strictSame(await list({ direction: 'incoming' }), [incoming.id])
  t.strictSame(await list({ direction: 'outgoing', provider: 'hooks.example.com' }), [outgoing.id])
  t.equal(
    (await list({ provider: id })).length,
    2,
    'a subscription may have several secrets while they are rotated',
  )
  t.equal((await list({})).length, 4)

  const rows = Array.from({ length: 49 }, () => ({
    id: newId(),
    workspaceId: administrator.workspaceId,
    provider: 'x',
    sealed: Buffer.alloc(60),
  }))
  await own(administrator).signingSecret.createMany({ data: rows })
  await t.rejects(createSigningSecret(administrator, sealer, { provider: 'billing' }), {
    code: 'limit_reached',
    message: 'A workspace may have 50 incoming signing secrets in use',
  })
  await createSigningSecret(administrator, sealer, { provider: 'a', direction: 'outgoing' })
  await revokeSigningSecret(administrator, next.id)
  const log = await own(administrator).auditEntry.findMany({
    where: { action: 'signing_secret.created' },
    orderBy: { id: 'asc' },
  })
  t.strictSame(log.map(({ details }) => details).slice(0, 2), [
    { provider: 'billing' },
    { provider: 'hooks.example.com', direction: 'outgoing' },
  ])
})

t.test('deliveries to a subscription are retried for most of a day', async (t) => {
  const { attempts, delayMs, maxDelayMs } = subscriptionRetry
  const delays = Array.from({ length: attempts - 1 }, (_, failures) =>
    Math.min(delayMs * 2 ** failures, maxDelayMs),
  )
  const hours = delays.reduce((sum, delay) => sum + delay, 0) / 3_600_000
  t.ok(hours > 20 && hours < 24)
})
