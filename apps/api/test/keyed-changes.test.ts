import { newId } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import { type Answer, type Call, type Question, ruleBody, rules, startApi } from './fixtures/api.js'
import { storeEvent, storeExecution } from './fixtures/history.js'

/** Two APIs on one database: each knows the keys of the other. */
const [api, twin] = await Promise.all([startApi(t), startApi(t)])

const developer = '/api/developer/v1'
const templates = '/api/email-templates'
const subscription = { url: 'https://example.com/hook', eventTypes: ['rule.paused'] }

interface Credential {
  id: string
  key?: string | null
  secret?: string | null
  token?: string | null
  url?: string | null
  warnings?: { field: string; message: string }[]
}

async function makeOwnWorkspace() {
  const workspace = await api.makeWorkspace()
  const callOther: Call = (method, path, question) =>
    twin.call(method, path, { token: workspace.tokens.admin, workspace: workspace.id, ...question })
  const ask =
    (call: Call) =>
    <Body = { id: string }>(path: string, key: string, body?: unknown, headers: Question['headers'] = {}) =>
      call<Body>('POST', path, { body, headers: { 'idempotency-key': key, ...headers } })
  return { ...workspace, post: ask(workspace.call), postOther: ask(callOther) }
}
type Own = Awaited<ReturnType<typeof makeOwnWorkspace>>

const isReplay = ({ headers }: Answer) => headers['idempotent-replayed'] === 'true'

/** What a caller sees of an outcome: not what belongs to one sending. */
function outcomeOf({ status, headers, body }: Answer) {
  return { status, body, headers: ['location', 'etag', 'cache-control'].map((name) => headers[name]) }
}

const create = async ({ call }: Own, path: string, body: object) =>
  (await call<{ id: string }>('POST', path, { body })).body.id
const createRule = (own: Own, fields = {}) => create(own, rules, ruleBody(fields))

/** Each keyed change that no other test makes: its request, and how often it was done. */
const changes: Record<
  string,
  { path(own: Own): Promise<string>; body?: object; status: number; count(own: Own): Promise<number> }
> = {
  'create a template': {
    path: async () => templates,
    body: { name: 'Hello', text: 'Hi' },
    status: 201,
    count: ({ database }) => database.emailTemplate.count(),
  },
  'create an event type': {
    path: async () => '/api/event-types',
    body: { name: 'PAYMENT_FAILED', description: 'Declined' },
    status: 201,
    count: ({ database }) => database.ownEventType.count(),
  },
  'create a workspace': {
    path: async () => `${developer}/workspaces`,
    body: { name: 'Acme' },
    status: 201,
    count: ({ users }) =>
      api.app.database.system.workspace.count({ where: { createdBy: `user:${users.admin}` } }),
  },
  'create a backtest': {
    path: async () => `${rules}/backtests`,
    body: { definition: { trigger: 'LEAD_CREATED', actions: ruleBody().actions } },
    status: 202,
    count: ({ database }) => database.backtest.count(),
  },
  'restore a version': {
    path: async (own) => {
      const id = await createRule(own)
      await own.call('PUT', `${rules}/${id}`, { body: { name: 'Second' } })
      return `${rules}/${id}/versions/1/restore`
    },
    status: 200,
    count: ({ database }) => database.auditEntry.count({ where: { action: 'rule.restored' } }),
  },
  'promote a draft': {
    path: async (own) => {
      const id = await createRule(own)
      await own.call('PUT', `${rules}/${id}/draft`, { body: ruleBody({ name: 'The draft' }) })
      return `${rules}/${id}/draft/promote`
    },
    status: 200,
    count: ({ database }) => database.auditEntry.count({ where: { action: 'rule.promoted' } }),
  },
  'activate a rule': {
    path: async (own) => `${rules}/${await createRule(own, { isActive: false })}/activate`,
    status: 200,
    count: ({ database }) => database.auditEntry.count({ where: { action: 'rule.activated' } }),
  },
  'deactivate a rule': {
    path: async (own) => `${rules}/${await createRule(own)}/deactivate`,
    status: 200,
    count: ({ database }) => database.auditEntry.count({ where: { action: 'rule.deactivated' } }),
  },
  'retire a secret': {
    path: async (own) => {
      const id = await create(own, `${developer}/signing-secrets`, { provider: 'billing' })
      return `${developer}/signing-secrets/${id}/retire`
    },
    status: 200,
    count: ({ database }) => database.auditEntry.count({ where: { action: 'signing_secret.retired' } }),
  },
  'test a subscription': {
    path: async (own) =>
      `${developer}/subscriptions/${await create(own, `${developer}/subscriptions`, subscription)}/test`,
    status: 202,
    count: ({ database }) => database.event.count({ where: { type: 'subscription.ping' } }),
  },
  'retry an execution': {
    path: async (own) => `/api/executions/${await storeFailed(own)}/retry`,
    body: {},
    status: 202,
    count: ({ database }) => database.auditEntry.count({ where: { action: 'execution.retried' } }),
  },
  'retry executions': {
    path: async (own) => {
      await storeFailed(own)
      return '/api/executions/retry'
    },
    body: { filter: {}, dryRun: false },
    status: 202,
    count: ({ database }) => database.auditEntry.count({ where: { action: 'execution.retried' } }),
  },
  'cancel an execution': {
    path: async (own) => `/api/executions/${await storeWaiting(own)}/cancel`,
    body: {},
    status: 200,
    count: ({ database }) => database.auditEntry.count({ where: { action: 'execution.cancelled' } }),
  },
  decide: {
    path: async (own) => {
      const id = await storeWaiting(own)
      const { handlerId: ruleId } = await own.database.execution.findUniqueOrThrow({ where: { id } })
      const actions = [
        { type: 'WAIT', config: { decision: { options: ['approve', 'reject'], within: '1d' } } },
      ]
      await own.database.ruleVersion.updateMany({ where: { ruleId }, data: { actions } })
      return `/api/decisions/${id}`
    },
    body: { choice: 'approve' },
    status: 200,
    count: ({ database }) => database.auditEntry.count({ where: { action: 'execution.decided' } }),
  },
  'cancel executions': {
    path: async (own) => {
      await storeWaiting(own)
      return '/api/executions/cancel'
    },
    body: { filter: {}, dryRun: false },
    status: 202,
    count: ({ database }) => database.auditEntry.count({ where: { action: 'execution.cancelled' } }),
  },
}

async function storeWaiting(own: Own): Promise<string> {
  const event = await storeEvent(own, {})
  return (await storeExecution(own, event, await createRule(own), { status: 'waiting' })).id
}

async function storeFailed(own: Own): Promise<string> {
  const ruleId = await createRule(own)
  const event = await storeEvent(own, {})
  return (await storeExecution(own, event, ruleId, { status: 'failed', error: 'No' })).id
}

for (const [name, { path: prepare, body, status, count }] of Object.entries(changes))
  t.test(`under one key, to ${name} happens once, and each repeat gets the first response`, async (t) => {
    const own = await makeOwnWorkspace()
    const path = await prepare(own)
    const answers = await Promise.all([
      own.post(path, 'k', body),
      own.postOther(path, 'k', body),
      own.post(path, 'k', body),
    ])
    const first = answers.find((answer) => !isReplay(answer)) as Answer
    t.equal(first.status, status)
    const turned = body && Object.fromEntries(Object.entries(body).reverse())
    const again = [...answers.filter((one) => one !== first), await own.postOther(path, 'k', turned)]
    t.equal(again.length, 3)
    for (const answer of again) {
      t.ok(isReplay(answer))
      t.strictSame(outcomeOf(answer), outcomeOf(first))
    }
    t.equal(await count(own), 1)
    const other = await own.post(`${rules}`, 'k', ruleBody())
    t.match(other, { status: 422, body: { errors: [{ field: 'Idempotency-Key' }] } }, 'and no other request')
  })

t.test('the text of a credential is in the first response alone, and is not stored', async (t) => {
  const own = await makeOwnWorkspace()
  const credentials: [path: string, field: 'key' | 'secret' | 'token' | 'url', body: object][] = [
    [`${developer}/api-keys`, 'key', { name: 'CI', scopes: ['rules:read'] }],
    [`${developer}/invitations`, 'token', { role: 'viewer' }],
    [`${developer}/embed-sessions`, 'url', { user: { id: '42' }, role: 'viewer', pages: ['rules'] }],
    [`${developer}/signing-secrets`, 'secret', { provider: 'billing' }],
    [`${developer}/subscriptions`, 'secret', subscription],
  ]
  for (const [path, field, body] of credentials) {
    const first = await own.post<Credential>(path, path, body)
    t.equal(first.status, 201)
    const text = first.body[field] ?? ''
    t.ok(text.length > 20)
    const again = await own.postOther<Credential>(path, path, body)
    t.ok(isReplay(again))
    const warnings = [{ field, message: /^Only the first response contained it/ }]
    matchLists(t, again, { status: 201, body: { ...first.body, [field]: null, warnings } })
    t.equal(again.headers['cache-control'], 'no-store')
    t.equal(again.headers.location, first.headers.location)
    const stored = await own.database.idempotencyKey.findMany()
    t.equal(stored.length, 1)
    t.notOk(JSON.stringify(stored).includes(text))
    await own.database.idempotencyKey.deleteMany()
  }
})

t.test('a repeat gets its response also when its time is over, or its object is deleted', async (t) => {
  const own = await makeOwnWorkspace()
  const { now } = Date
  const expiresAt = new Date(now() + 60_000).toISOString()
  const body = { name: 'CI', scopes: ['rules:read'], expiresAt }
  const first = await own.post<Credential>(`${developer}/api-keys`, 'k', body)
  t.equal(first.status, 201)
  // By more than a minute: ids would go on from there, and other files of this process find theirs in no order (newId).
  t.intercept(Date, 'now', { value: () => now() + 180_000 })
  t.ok(isReplay(await own.post(`${developer}/api-keys`, 'k', body)))
  t.match(await own.post(`${developer}/api-keys`, 'other', body), { status: 422 })
  const template = { name: 'Hello', text: 'Hi' }
  const made = await own.post(templates, 't', template)
  await own.call('DELETE', `${templates}/${made.body.id}`)
  t.strictSame(outcomeOf(await own.post(templates, 't', template)), outcomeOf(made))
  t.equal(await own.database.emailTemplate.count(), 0)
})

t.test('a change that is refused leaves its key free', async (t) => {
  const own = await makeOwnWorkspace()
  const template = { name: 'Hello', text: 'Hi' }
  const id = await create(own, templates, template)
  t.match(await own.post(templates, 'k', template), { status: 409 })
  t.equal(await own.database.idempotencyKey.count(), 0)
  await own.call('DELETE', `${templates}/${id}`)
  t.match(await own.post(templates, 'k', template), { status: 201 })
})

t.test('an operation that does not accept a key refuses it, instead of ignoring it', async (t) => {
  const { call, database } = await makeOwnWorkspace()
  const { body: rule } = await call<Rule>('POST', rules, { body: ruleBody() })
  const headers = { 'idempotency-key': 'k' }
  const refused = { status: 400, body: { error: 'This operation accepts no Idempotency-Key' } }
  const requests: [method: 'GET' | 'PUT' | 'PATCH' | 'DELETE' | 'POST', path: string, body?: object][] = [
    ['GET', rules],
    ['PUT', `${rules}/${rule.id}`, { name: 'Other' }],
    ['PATCH', `${rules}/${rule.id}/toggle`],
    ['DELETE', `${rules}/${rule.id}`],
    ['POST', `${rules}/validate`, ruleBody()],
    ['POST', '/api/events/search', { conditions: [] }],
    ['POST', '/api/events/replay', { filter: {}, dryRun: false }],
  ]
  for (const [method, path, body] of requests)
    t.match(await call(method, path, { body, headers }), refused, `${method} ${path}`)
  t.match(await call('GET', `${rules}/${rule.id}`), { status: 200, body: { name: 'A rule', isActive: true } })
  t.equal(await database.idempotencyKey.count(), 0)
})

t.test('activate and deactivate may be repeated without a key', async (t) => {
  const own = await makeOwnWorkspace()
  const { call, database } = own
  const id = await createRule(own)
  const versionOf = async () =>
    (await database.workspace.findUniqueOrThrow({ where: { id: own.id } })).rulesVersion
  const switchTo = (path: string, headers = {}) => call('POST', `${rules}/${id}/${path}`, { headers })
  t.match(await switchTo('activate'), { status: 200, body: { id, isActive: true } })
  const before = await versionOf()
  for (let times = 0; times < 2; times++)
    t.match(await switchTo('deactivate'), { status: 200, body: { id, isActive: false } })
  t.equal(await versionOf(), before + 1, 'the second changed nothing')
  t.match(await switchTo('activate', { 'if-match': '"7"' }), { status: 412 })
  t.match(await switchTo('activate'), { status: 200, body: { id, isActive: true } })
  await call('PUT', `${rules}/${id}`, { body: { mode: 'shadow' } })
  t.match(await switchTo('activate'), { status: 409, body: { error: /shadow mode/ } })
  t.match(await call('POST', `${rules}/${newId()}/activate`), { status: 404 })
  t.match(await call('POST', `${rules}/x/deactivate`), { status: 404 })
})

t.test('PATCH of a rule is its PUT', async (t) => {
  const own = await makeOwnWorkspace()
  const id = await createRule(own)
  const patch = (body: object, headers = {}) => own.call('PATCH', `${rules}/${id}`, { body, headers })
  t.match(await patch({ name: 'Other' }, { 'if-match': '"1"' }), {
    status: 200,
    headers: { etag: '"2"' },
    body: { id, name: 'Other', version: 2, trigger: 'LEAD_CREATED' },
  })
  t.match(await patch({ name: 'Third' }, { 'if-match': '"1"' }), { status: 412 })
  t.match(await patch({ nam: 'x' }), { status: 422, body: { errors: [{ field: 'nam' }] } })
})

t.test('nobody can guess a secret by the stored hash of its request without ENCRYPTION_KEY', async (t) => {
  const other = await startApi(t, { ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') })
  const hashes = async (body: object) => {
    const stored: string[] = []
    for (const one of [api, other]) {
      const { database, call } = await one.makeWorkspace()
      const headers = { 'idempotency-key': 'k' }
      const create = (sent: object) =>
        call('POST', '/api/developer/v1/signing-secrets', { body: sent, headers })
      t.equal((await create(body)).status, 201)
      t.match(await create(body), { status: 201, headers: { 'idempotent-replayed': 'true' } })
      t.equal((await create({ ...body, secret: 'of-somebody-else' })).status, 422)
      const { requestHash } = await database.idempotencyKey.findFirstOrThrow()
      stored.push(Buffer.from(requestHash).toString('hex'))
    }
    return stored
  }
  const plain = await hashes({ provider: 'acme', scheme: 'stripe' })
  t.equal(plain[0], plain[1])
  const secret = await hashes({ provider: 'acme', scheme: 'stripe', secret: 'hunter2-hunter2' })
  t.not(secret[0], secret[1])
})
