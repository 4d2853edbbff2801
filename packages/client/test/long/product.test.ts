import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { createClient } from '../../src/create-client.js'
import { startOwnProduct } from '../fixtures/product.js'

const { product, options } = await startOwnProduct(t)
const client = createClient(options)
const { rules, events, executions, tasks, emailTemplates, developer } = client

const task = { type: 'CREATE_TASK', config: { title: '{{name}}' } } as const
const failing = { type: 'SEND_WEBHOOK', config: { url: 'http://127.0.0.1:1/' } } as const

t.test('a rule is created, read, changed and restored', async (t) => {
  const rule = await rules.create({ name: 'Call', trigger: 'LEAD_CREATED', actions: [task] })
  t.same(await rules.get(rule.id), rule)
  const changed = await rules.update(rule.id, { name: 'Call now' }, { ifVersion: 1 })
  t.match(changed, { name: 'Call now', version: 2 })
  await t.rejects(rules.update(rule.id, { name: 'Late' }, { ifVersion: 1 }), {
    message: 'The rule has changed since you read it: read it again, and retry with its new ETag',
  })
  const versions = await rules.versions.list(rule.id, { limit: 1 }).all()
  t.same(
    versions.map(({ version }) => version),
    [2, 1],
    'page by page',
  )
  t.match(await rules.versions.get(rule.id, 1), { name: 'Call', version: 1 })
  t.match(await rules.versions.restore(rule.id, 1, { ifVersion: 2 }), { name: 'Call', version: 3 })
  t.match(await rules.toggle(rule.id), { id: rule.id, isActive: false })
  t.match(await rules.clone(rule.id), { name: 'Copy of Call', isActive: false })
  t.match(await rules.health(), { totalRules: 2, activeRules: 0 })
  for await (const { id } of rules.list({ q: 'Call' })) await rules.delete(id)
  t.same(await rules.list(), { rules: [] })
  await t.rejects(rules.get(rule.id), { message: 'Automation rule not found' })
})

t.test('events run rules, and their outcomes can be read', async (t) => {
  const rule = await rules.create({ name: 'Task', trigger: 'TAG_ADDED', actions: [task] })
  const done = await client.trigger('TAG_ADDED', { name: 'one' })
  t.match(done, { status: 'done', isReplayed: false, triggered: 1, location: `/api/events/${done.id}` })
  const accepted = await client.trigger('TAG_ADDED', { name: 'two' }, { async: true })
  t.match(accepted, { status: 'accepted', location: `/api/events/${accepted.id}` })
  const event = await events.waitUntilDone(accepted.id)
  matchLists(t, event, { status: 'done', triggered: 1, results: [{ ruleId: rule.id, success: true }] })
  const batch = await client.triggerBatch('TAG_ADDED', [
    { data: { name: 'three' } },
    { data: { name: 'four' } },
  ])
  t.equal(batch.accepted, 2)
  for (const { id = '' } of batch.results) await events.waitUntilDone(id)
  t.match(await events.replay(done.id), { status: 'done', triggered: 1 })
  const names = (await tasks.list({ ruleId: rule.id, limit: 2 }).all()).map(({ title }) => title)
  t.same(names.sort(), ['four', 'one', 'one', 'three', 'two'])
  t.match(
    await events.replayMany({ filter: { eventType: 'TAG_ADDED' } }),
    { matched: 4 },
    'a replay is not replayed',
  )
  t.equal((await events.list({ eventType: 'TAG_ADDED', limit: 2 }).all()).length, 5)

  const dry = await rules.execute(rule.id, { name: 'x' }, { dryRun: true, explain: true })
  matchLists(t, dry, { dryRun: true, results: [{ status: 'simulated' }], trace: { conditionsPassed: true } })
  const execution = await rules.execute(rule.id, { name: 'by hand' }, { wait: 5 })
  t.match(await executions.get(execution.id, { explain: true }), { status: 'succeeded', trace: {} })
})

t.test('a failed execution is retried, alone and in bulk', async (t) => {
  const rule = await rules.create({ name: 'Fails', trigger: 'DEAL_LOST', actions: [failing] })
  const { id } = await rules.execute(rule.id, {})
  matchLists(t, await executions.waitUntilDone(id), { status: 'failed', results: [{ status: 'failed' }] })
  t.match(await executions.retry(id, { version: 'latest' }), { id, status: 'accepted' })
  t.match(await executions.waitUntilDone(id), { status: 'failed' })
  matchLists(t, await executions.list({ status: 'failed', ruleId: rule.id }), { executions: [{ id }] })
  t.match(await executions.retryMany({ filter: { ruleId: rule.id } }), { matched: 1 })
  await rules.execute(rule.id, {})
  await rules.execute(rule.id, {})
  matchLists(t, await rules.attention().all(), [{ name: 'Fails', reason: 'failures' }])
})

t.test('email templates are created, changed and deleted', async (t) => {
  const template = await emailTemplates.create({ name: 'hello', text: 'Hello {{name}}' })
  t.match(await emailTemplates.preview(template.id, { data: { name: 'Ada' } }), { text: 'Hello Ada' })
  t.match(await emailTemplates.update(template.id, { text: 'Hi {{name}}' }), { text: 'Hi {{name}}' })
  matchLists(t, await emailTemplates.list(), { emailTemplates: [{ name: 'hello' }] })
  t.match(await emailTemplates.get(template.id), { text: 'Hi {{name}}' })
  await emailTemplates.delete(template.id)
  t.same(await emailTemplates.list().all(), [])
})

t.test('a rule is validated, and an event is dry-run', async (t) => {
  const rule = { name: 'Lost', trigger: 'DEAL_CREATED' as const, actions: [task] }
  t.match(await client.rules.validate(rule), { rule: { ...rule, isActive: true }, warnings: { length: 0 } })
  const refused = await client.rules.validate({ ...rule, name: '' }).catch((error: unknown) => error)
  t.match(refused, { status: 422, errors: [{ field: 'name' }] })
  await client.rules.create(rule)
  const { triggered, results } = await client.dryRun('DEAL_CREATED', { name: 'Ada' }, { explain: true })
  t.equal(triggered, 1)
  matchLists(t, results, [{ name: 'Lost', status: 'simulated', trace: { conditionsPassed: true } }])
  t.same(await client.events.list({ eventType: 'DEAL_CREATED' }).all(), [])
})

t.test('webhooks are signed, delivered and deduplicated', async (t) => {
  const { id: secretId, secret } = await developer.signingSecrets.create({ provider: 'billing' })
  const stranger = createClient({ baseUrl: options.baseUrl, workspaceId: options.workspaceId })
  const webhook = { provider: 'billing', id: 'evt_1', body: { name: 'Zoë' }, secretId, secret }
  const first = await stranger.webhooks.deliver(webhook)
  t.match(first, { receiptState: 'accepted', deduplicated: false })
  t.match(await stranger.webhooks.deliver(webhook), { id: first.id, deduplicated: true })
  await t.rejects(stranger.webhooks.deliver({ ...webhook, id: 'evt_2', secret: 'whsec_c2VjcmV0' }), {
    message: 'Authentication required',
  })
  matchLists(t, await developer.receipts.list({ provider: 'billing' }).all(), [{ id: first.id }])
  t.match(await developer.receipts.get(first.id), { idempotencyKey: 'evt_1' })
  t.match(await developer.signingSecrets.retire(secretId, { overlap: '1h' }), { state: 'retiring' })
  await developer.signingSecrets.revoke(secretId)
  matchLists(t, await developer.signingSecrets.list().all(), [{ state: 'revoked' }])
})

t.test('an admin manages members and keys, and a program uses an API key', async (t) => {
  const { key, id } = await developer.apiKeys.create({ name: 'CI', scopes: ['rules:read'] })
  const program = createClient({ baseUrl: options.baseUrl, apiKey: key })
  t.ok((await program.rules.list()).rules)
  await t.rejects(program.rules.create({ name: 'No', trigger: 'DEAL_WON', actions: [task] }), {
    message: 'Access denied',
  })
  await developer.apiKeys.revoke(id)
  await t.rejects(program.rules.list().all(), { message: 'Authentication required' })

  t.match(await developer.members.put('bob', { role: 'viewer' }), { userId: 'bob', role: 'viewer' })
  t.match(await developer.members.put('bob', { role: 'editor' }), { role: 'editor' })
  await developer.members.remove('bob')
  matchLists(t, await developer.members.list().all(), [{ userId: 'ada' }])
  const hook = { url: 'https://example.com/hook', eventTypes: ['rule.paused' as const] }
  const { id: subscription } = await developer.subscriptions.create(hook)
  t.match(await developer.subscriptions.update(subscription, { isActive: false }), { isActive: false })
  t.same(await developer.subscriptions.deliveries(subscription).all(), [])
  await developer.subscriptions.delete(subscription)
  const { id: workspace } = await developer.workspaces.create({ name: 'Second' })
  t.ok((await developer.workspaces.list().all()).some((one) => one.id === workspace))
  t.match(await developer.workspaces.update(options.workspaceId, { name: 'First' }), { name: 'First' })
  matchLists(t, await developer.auditLog.list({ limit: 3 }), {
    data: ['workspace.updated', 'subscription.deleted', 'subscription.updated'].map((action) => ({ action })),
  })
  t.match(await developer.ledger(), { imbalance: 0 })
  t.match(await client.probes.ready(), { status: 'ready' })
  t.match(await client.probes.live(), { status: 'ok' })
})

t.test('the API never refuses a request of a client with keepsPace', async (t) => {
  const { baseUrl } = await product.startApi({ RATE_LIMIT_AUTHENTICATED: '1200/10' })
  const paced = createClient({ ...options, baseUrl, keepsPace: true, retries: 0 })
  await Promise.all(Array.from({ length: 30 }, () => paced.rules.health()))
  t.match(paced.rateLimit, { limit: 10 })
  const hasty = createClient({ ...options, baseUrl, retries: 0 })
  const answers = await Promise.allSettled(Array.from({ length: 30 }, () => hasty.rules.health()))
  t.ok(
    answers.some(({ status }) => status === 'rejected'),
    'another one is',
  )
})
