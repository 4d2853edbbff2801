import { setImmediate } from 'node:timers/promises'
import { createSealer, sealingContext } from '@automation/access'
import { firstIdOf, newId } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import { readSigningKey } from '@automation/webhooks'
import t from 'tap'
import type { Rule } from '../src/routes/rules/rule-schemas.js'
import {
  type Answer,
  encryptionKey,
  type methods,
  mint,
  roles,
  ruleBody,
  rules,
  startApi,
  type Workspace,
} from './fixtures/api.js'
import { checkForeignChange } from './fixtures/foreign-change.js'

interface Entry {
  id: string
  actor: string
  action: string
  subject: string
  details: Record<string, unknown>
  at: string
}
interface Secret {
  id: string
  provider: string
  state: string
  secret: string
  retiresAt: string | null
}
interface Document {
  paths: Record<
    string,
    Record<string, { summary?: string; tags?: string[]; responses: Record<string, object> }>
  >
  components: { securitySchemes: object }
  security: object[]
}
interface Faults {
  errors: { field: string; message: string }[]
}
type Method = (typeof methods)[number]

const api = await startApi(t)
const developer = '/api/developer/v1'
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const denied = { status: 403, body: { error: 'Access denied' } }
const tooHigh = { status: 403, body: { error: 'Only an operator can raise a plan, on the command line' } }
const statusAndBody = ({ status, body }: Answer) => ({ status, body })
const fieldsOf = ({ status, body }: Answer) => [
  status,
  ...((body as Faults).errors ?? []).map(({ field }) => field).sort(),
]
const memberPath = (userId: string) => `${developer}/members/${encodeURIComponent(userId)}`
const putMember = ({ call }: Workspace, userId: string, role: unknown) =>
  call('PUT', memberPath(userId), { body: { role } })

async function makeSecret({ call }: Workspace, provider = 'billing'): Promise<Secret> {
  const { status, body } = await call<Secret>('POST', `${developer}/signing-secrets`, { body: { provider } })
  if (status !== 201) throw new Error(`No secret was made: ${status} ${JSON.stringify(body)}`)
  return body
}

/** The whole audit log, the oldest entry first. */
async function readLog({ call }: Workspace, query = ''): Promise<Entry[]> {
  const entries: Entry[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Answer<{ data: Entry[]; nextCursor: string | null }> = await call(
      'GET',
      `${developer}/audit-log?limit=250${query}${cursor && `&cursor=${cursor}`}`,
    )
    entries.push(...page.body.data)
    cursor = page.body.nextCursor
  }
  return entries.reverse()
}

interface Route {
  method: Method
  path: string
  status: number
  body?: unknown
}

/** That change something, which is made for them first. */
async function prepareWrites(workspace: Workspace): Promise<Route[]> {
  const { call, id: workspaceId } = workspace
  const key = await call<{ id: string }>('POST', `${developer}/api-keys`, {
    body: { name: 'x', scopes: ['admin'] },
  })
  const [retired, revoked] = [await makeSecret(workspace), await makeSecret(workspace)]
  const subscribe = { url: 'https://example.com', eventTypes: ['rule.updated'] }
  const subscription = await call<{ id: string }>('POST', `${developer}/subscriptions`, { body: subscribe })
  const unsubscribed = await call<{ id: string }>('POST', `${developer}/subscriptions`, { body: subscribe })
  await putMember(workspace, 'removable', 'viewer')
  const credential = { value: 'the token', hosts: ['crm.example.com'] }
  await call('PUT', `${developer}/credentials/removable`, { body: credential })
  return [
    { method: 'POST', path: '/api-keys', status: 201, body: { name: 'x', scopes: ['admin'] } },
    { method: 'DELETE', path: `/api-keys/${key.body.id}`, status: 204 },
    { method: 'POST', path: '/signing-secrets', status: 201, body: { provider: 'x' } },
    { method: 'POST', path: `/signing-secrets/${retired.id}/retire`, status: 200, body: {} },
    { method: 'DELETE', path: `/signing-secrets/${revoked.id}`, status: 204 },
    { method: 'POST', path: '/subscriptions', status: 201, body: subscribe },
    {
      method: 'PATCH',
      path: `/subscriptions/${subscription.body.id}`,
      status: 200,
      body: { description: 'Other' },
    },
    { method: 'POST', path: `/subscriptions/${subscription.body.id}/test`, status: 202 },
    { method: 'DELETE', path: `/subscriptions/${unsubscribed.body.id}`, status: 204 },
    { method: 'PUT', path: '/credentials/CRM', status: 201, body: credential },
    { method: 'DELETE', path: '/credentials/removable', status: 204 },
    { method: 'PUT', path: '/members/someone', status: 201, body: { role: 'viewer' } },
    { method: 'DELETE', path: '/members/removable', status: 204 },
    { method: 'PATCH', path: `/workspaces/${workspaceId}`, status: 200, body: { name: 'x' } },
    { method: 'POST', path: '/workspaces', status: 201, body: { name: 'x' } },
  ]
}

t.test('no route changes a row of another workspace that it would change in its own', async (t) => {
  const [theirs, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  for (const { method, path, status, body } of await prepareWrites(theirs)) {
    // A new workspace changes no other one.
    if (method === 'POST' && path === '/workspaces') continue
    const { own } = await checkForeignChange(t, `${method} ${path}`, { theirs, other }, (as) =>
      as.call(method, developer + path, { body }),
    )
    t.equal(own.status, status, `${method} ${path}`)
  }
})

t.test('members are added, changed, listed and removed, with immediate effect', async (t) => {
  const workspace = await api.makeWorkspace()
  const userId = `auth0|${newId()}/Ünï cödé 🦜%`
  const token = await mint(userId)
  const asMember = (method: Method, body?: unknown) =>
    api.call(method, rules, { token, workspace: workspace.id, body })
  t.equal((await asMember('GET')).status, 403)

  const added = await putMember(workspace, userId, 'viewer')
  t.equal(added.status, 201)
  t.match(added.body, { userId, role: 'viewer', createdAt: timestamp })
  t.equal((await asMember('GET')).status, 200)
  t.equal((await asMember('POST', ruleBody())).status, 403)

  const changed = await putMember(workspace, userId, 'editor')
  t.equal(changed.status, 200)
  t.strictSame(changed.body, { ...(added.body as object), role: 'editor' })
  t.equal((await asMember('POST', ruleBody())).status, 201)

  const { body } = await workspace.call<{ data: { userId: string; role: string }[] }>(
    'GET',
    `${developer}/members`,
  )
  const byUser = new Map(body.data.map((member) => [member.userId, member.role]))
  t.equal(byUser.size, 5)
  t.equal(byUser.get(userId), 'editor')
  for (const role of roles) t.equal(byUser.get(workspace.users[role]), role)

  const removed = await workspace.call('DELETE', memberPath(userId))
  t.strictSame(statusAndBody(removed), { status: 204, body: undefined })
  t.equal((await asMember('GET')).status, 403)
  const again = await workspace.call('DELETE', memberPath(userId))
  t.strictSame(statusAndBody(again), { status: 404, body: { error: 'Member not found' } })
})

t.test('a user id is a valid sub of a token, and a role is one of four', async (t) => {
  const workspace = await api.makeWorkspace()
  for (const userId of ['x'.repeat(255), ' ', 'é', '\u0001', 'null', newId()])
    t.equal((await putMember(workspace, userId, 'viewer')).status, 201, JSON.stringify(userId.slice(0, 20)))
  for (const userId of ['x'.repeat(256), 'x'.repeat(10_000), '🦜'.repeat(128), 'a\0b', '\0']) {
    t.strictSame(fieldsOf(await putMember(workspace, userId, 'viewer')), [422, 'userId'])
    t.strictSame(fieldsOf(await workspace.call('DELETE', memberPath(userId))), [422, 'userId'])
  }
  t.equal(
    (await workspace.call('PUT', `${developer}/members/%ED%A0%80`, { body: { role: 'admin' } })).status,
    400,
  )
  const bodies: [body: unknown, answer: unknown[]][] = [
    [{}, [422, 'role']],
    [{ role: null }, [422, 'role']],
    [{ role: 'Admin' }, [422, 'role']],
    [{ role: 'owner', userId: 'x', a: 1 }, [422, 'a', 'role', 'userId']],
    [{ role: 'viewer', createdAt: 'x' }, [422, 'createdAt']],
    [[], [400]],
    ['', [400]],
    ['{', [400]],
  ]
  for (const [body, expected] of bodies) {
    const answer = await workspace.call('PUT', memberPath('someone'), { body })
    t.strictSame(fieldsOf(answer), expected, JSON.stringify(body))
  }
  const missing = await workspace.call('PUT', memberPath('someone'), { body: {} })
  t.strictSame(missing.body, { errors: [{ field: 'role', message: 'Required' }] })
})

t.test('nobody can remove or demote the last admin', async (t) => {
  const workspace = await api.makeWorkspace()
  const conflict = { status: 409, body: { error: 'A workspace needs an admin, and this is the last one' } }
  const { admin } = workspace.users
  t.strictSame(statusAndBody(await workspace.call('DELETE', memberPath(admin))), conflict)
  for (const role of ['viewer', 'operator', 'editor'])
    t.strictSame(statusAndBody(await putMember(workspace, admin, role)), conflict)
  t.equal((await putMember(workspace, admin, 'admin')).status, 200, 'as it is')
  t.equal((await putMember(workspace, 'second', 'admin')).status, 201)
  t.equal((await putMember(workspace, admin, 'viewer')).status, 200, 'now there is another one')
  t.strictSame(statusAndBody(await putMember(workspace, 'second', 'viewer')), denied, 'and it is seen')
})

t.test('of two admins who demote each other concurrently, one stays', async (t) => {
  for (let round = 0; round < 10; round++) {
    const workspace = await api.makeWorkspace()
    const second = `second-${newId()}`
    await putMember(workspace, second, 'admin')
    const asSecond = { token: await mint(second), workspace: workspace.id }
    const byRemoval = round % 2 === 0
    const attack = (userId: string, who: { token: string; workspace: string }) =>
      byRemoval
        ? api.call('DELETE', memberPath(userId), who)
        : api.call('PUT', memberPath(userId), { ...who, body: { role: 'viewer' } })
    const answers = await Promise.all([
      attack(second, { token: workspace.tokens.admin, workspace: workspace.id }),
      attack(workspace.users.admin, asSecond),
    ])
    const won = answers.filter(({ status }) => status === (byRemoval ? 204 : 200))
    t.equal(won.length, 1, `round ${round}: ${answers.map(({ status }) => status)}`)
    t.ok(
      answers.every((answer) => won.includes(answer) || answer.status === 409 || answer.status === 403),
      'the other one is reported',
    )
    t.equal(await workspace.database.member.count({ where: { role: 'admin' } }), 1)
  }
})

t.test('concurrent changes of members fail no request', async (t) => {
  const workspace = await api.makeWorkspace()
  const users = Array.from({ length: 30 }, (_, index) => `user-${index}-${newId()}`)
  const tokens = await Promise.all(users.map(mint))
  await workspace.database.member.createMany({
    data: users.map((userId) => ({ workspaceId: workspace.id, userId, role: 'viewer' as const })),
  })
  const change = putMember(workspace, 'someone', 'viewer')
  const reads: Promise<Answer>[] = []
  let isChanging = true
  void change.finally(() => {
    isChanging = false
  })
  while (isChanging) {
    const token = tokens.pop()
    if (token) reads.push(api.call('GET', rules, { token, workspace: workspace.id }))
    await setImmediate()
  }
  t.equal((await change).status, 201)
  t.ok(reads.length > 3)
  t.strictSame([...new Set((await Promise.all(reads)).map(({ status }) => status))], [200])
})

t.test('a user lists the workspaces of its memberships, and a key its own', async (t) => {
  const [first, second] = [await api.makeWorkspace('enterprise'), await api.makeWorkspace()]
  await putMember(second, first.users.viewer, 'admin')
  const { status, body } = await first.callAs('viewer')('GET', `${developer}/workspaces`)
  t.equal(status, 200)
  matchLists(t, body, {
    data: [
      { id: first.id, name: 'Tests', plan: 'enterprise', createdAt: timestamp },
      { id: second.id, name: 'Tests', plan: 'standard' },
    ],
  })
  const created = await second.call<{ key: string }>('POST', `${developer}/api-keys`, {
    body: { name: 'x', scopes: ['rules:read'] },
  })
  const byKey = await api.call('GET', `${developer}/workspaces`, { token: created.body.key })
  matchLists(t, byKey.body, { data: [{ id: second.id }] })
  t.equal((byKey.body as { data: unknown[] }).data.length, 1)
})

t.test('a workspace is read and changed by its own id only', async (t) => {
  const [workspace, other] = [await api.makeWorkspace('enterprise'), await api.makeWorkspace()]
  await putMember(other, workspace.users.admin, 'admin')
  const path = `${developer}/workspaces/${workspace.id}`
  const { body: before } = await workspace.call<object>('GET', path)
  t.match(before, { id: workspace.id, name: 'Tests', plan: 'enterprise' })
  t.strictSame(
    (await workspace.call('GET', `${developer}/workspaces/${workspace.id.toUpperCase()}`)).body,
    before,
  )
  for (const id of [other.id, newId(), 'x'])
    for (const method of ['GET', 'PATCH'] as const)
      t.strictSame(
        statusAndBody(
          await workspace.call(method, `${developer}/workspaces/${id}`, method === 'GET' ? {} : { body: {} }),
        ),
        { status: 404, body: { error: 'Workspace not found' } },
      )
  const renamed = await workspace.call('PATCH', path, { body: { name: 'Ünï 🦜' } })
  t.strictSame(statusAndBody(renamed), { status: 200, body: { ...before, name: 'Ünï 🦜' } })
  t.strictSame((await workspace.call('PATCH', path, { body: {} })).body, renamed.body)
  const bodies: [body: unknown, answer: unknown[]][] = [
    [{ name: '' }, [422, 'name']],
    [{ name: 'x'.repeat(201), plan: 'gold', id: newId() }, [422, 'id', 'name', 'plan']],
    [{ name: null }, [422, 'name']],
    [{ name: 'a\0b' }, [422, 'name']],
    [{ name: '\ud800', plan: 5 }, [422, 'name', 'plan']],
    [[], [400]],
    [undefined, [400]],
  ]
  for (const [body, expected] of bodies)
    t.strictSame(fieldsOf(await workspace.call('PATCH', path, { body })), expected, JSON.stringify(body))
})

t.test('a plan may be lowered over HTTP, and never raised', async (t) => {
  const [standard, enterprise] = [await api.makeWorkspace(), await api.makeWorkspace('enterprise')]
  const patch = ({ call, id }: Workspace, plan: string) =>
    call('PATCH', `${developer}/workspaces/${id}`, { body: { plan } })
  const post = ({ call }: Workspace, plan: string) =>
    call('POST', `${developer}/workspaces`, { body: { name: 'x', plan } })
  t.strictSame(statusAndBody(await patch(standard, 'enterprise')), tooHigh)
  t.strictSame(statusAndBody(await post(standard, 'enterprise')), tooHigh)
  t.equal((await patch(standard, 'standard')).status, 200)
  t.equal((await post(standard, 'standard')).status, 201)
  t.match((await post(enterprise, 'enterprise')).body, { plan: 'enterprise' })
  t.equal((await patch(enterprise, 'enterprise')).status, 200)
  t.equal((await enterprise.call('GET', rules)).status, 200)
  t.match((await patch(enterprise, 'standard')).body, { plan: 'standard' })
  t.strictSame(statusAndBody(await patch(enterprise, 'enterprise')), tooHigh, 'there is no way back')
  t.strictSame(statusAndBody(await post(enterprise, 'enterprise')), tooHigh)
  matchLists(t, await standard.database.workspace.findMany(), [{ plan: 'standard' }])
})

t.test('an admin creates workspaces, and becomes their admin or names one', async (t) => {
  const workspace = await api.makeWorkspace()
  const path = `${developer}/workspaces`
  const made = await workspace.call<{ id: string }>('POST', path, { body: { name: 'Second' } })
  t.equal(made.status, 201)
  t.equal(made.headers.location, `${path}/${made.body.id}`)
  t.match(made.body, { name: 'Second', plan: 'standard', createdAt: timestamp })
  const own = { token: workspace.tokens.admin, workspace: made.body.id }
  t.strictSame((await api.call('GET', String(made.headers.location), own)).body, made.body)
  t.equal((await api.call('POST', rules, { ...own, body: ruleBody() })).status, 201)

  const given = await workspace.call<{ id: string }>('POST', path, {
    body: { name: 'Third', adminUserId: 'grace' },
  })
  const asGrace = { token: await mint('grace'), workspace: given.body.id }
  matchLists(t, (await api.call('GET', `${developer}/members`, asGrace)).body, {
    data: [{ userId: 'grace', role: 'admin' }],
  })
  t.equal((await api.call('GET', rules, { ...own, workspace: given.body.id })).status, 403)

  const { body: admin } = await workspace.call<{ id: string; key: string }>('POST', `${developer}/api-keys`, {
    body: { name: 'x', scopes: ['admin'] },
  })
  const byKey = (body: unknown) => api.call<{ id: string }>('POST', path, { token: admin.key, body })
  const unnamed = await byKey({ plan: 'gold', x: 1 })
  t.strictSame(fieldsOf(unnamed), [422, 'adminUserId', 'name', 'plan', 'x'])
  t.strictSame((await byKey({ name: 'x' })).body, {
    errors: [{ field: 'adminUserId', message: 'Required: an API key is no user' }],
  })
  const byKeyMade = await byKey({ name: 'Fourth', adminUserId: 'grace' })
  t.equal(byKeyMade.status, 201)
  const graceIn = (id: string) => readLog({ ...workspace, call: callAs(asGrace.token, id) })
  matchLists(t, await graceIn(byKeyMade.body.id), [
    { actor: `api_key:${admin.id}`, action: 'workspace.created', subject: byKeyMade.body.id },
  ])
  for (const adminUserId of ['', 'x'.repeat(256), '🦜'.repeat(128), 'a\0b', 5, null])
    t.strictSame(fieldsOf(await workspace.call('POST', path, { body: { name: 'x', adminUserId } })), [
      422,
      'adminUserId',
    ])
})

function callAs(token: string, workspace: string): Workspace['call'] {
  return (method, path, question) => api.call(method, path, { token, workspace, ...question })
}

t.test('a signing secret is shown once and stored sealed', async (t) => {
  const workspace = await api.makeWorkspace()
  const answer = await workspace.call<Secret>('POST', `${developer}/signing-secrets`, {
    body: { provider: 'developer-fixture' },
  })
  t.equal(answer.status, 201)
  t.equal(answer.headers['cache-control'], 'no-store')
  t.equal(answer.headers.location, `${developer}/signing-secrets/${answer.body.id}`)
  const { secret, ...rest } = answer.body
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.match(rest, {
    provider: 'developer-fixture',
    state: 'active',
    createdAt: timestamp,
    retiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
  })
  t.strictSame((await workspace.call('GET', `${developer}/signing-secrets`)).body, {
    data: [rest],
    nextCursor: null,
  })

  const row = await workspace.database.signingSecret.findUniqueOrThrow({ where: { id: rest.id } })
  const stored = Buffer.from(row.sealed)
  const key = readSigningKey(secret)
  for (const part of [
    key,
    Buffer.from(secret),
    Buffer.from(secret.slice(6)),
    Buffer.from(key.toString('hex')),
  ])
    t.notOk(stored.includes(part), 'what is stored gives nothing away')
  t.strictSame(createSealer(encryptionKey).open(stored, sealingContext(row)), key)
  t.notMatch(JSON.stringify(await readLog(workspace)), secret.slice(6))
})

t.test('signing secrets are listed by provider, retired with an overlap, and revoked', async (t) => {
  const workspace = await api.makeWorkspace()
  const path = `${developer}/signing-secrets`
  const [first, second] = [await makeSecret(workspace, 'a'), await makeSecret(workspace, 'b')]
  const third = await makeSecret(workspace, 'a')
  const listed = async (query = '') =>
    (await workspace.call<{ data: Secret[] }>('GET', path + query)).body.data.map(({ id }) => id)
  t.strictSame(await listed(), [third.id, second.id, first.id])
  t.strictSame(await listed('?provider=a'), [third.id, first.id])
  t.strictSame(await listed('?provider=c'), [])
  for (const provider of ['', 'A', '%00', 'a%20b', '-a', 'x'.repeat(254)])
    t.equal((await workspace.call('GET', `${path}?provider=${provider}`)).status, 400, provider)

  const retire = (id: string, body?: unknown) =>
    workspace.call<Secret>('POST', `${path}/${id}/retire`, { body })
  const within = (ms: number, { body }: Answer<Secret>) =>
    Math.abs(Date.parse(body.retiresAt ?? '') - Date.now() - ms) < 60_000
  for (const [body, ms] of [
    [undefined, 86_400_000],
    ['', 86_400_000],
    [{}, 86_400_000],
    [{ overlap: '30m' }, 1_800_000],
    [{ overlap: '1w' }, 604_800_000],
  ] as const) {
    const answer = await retire(first.id, body)
    t.equal(answer.status, 200)
    t.equal(answer.body.state, 'retiring')
    t.ok(within(ms, answer), JSON.stringify(body))
    t.notOk('secret' in answer.body)
  }
  await workspace.database.signingSecret.update({ where: { id: first.id }, data: { retiresAt: new Date() } })
  matchLists(t, (await workspace.call('GET', `${path}?provider=a`)).body, {
    data: [{ state: 'active' }, { state: 'retired' }],
  })
  for (const overlap of ['1s', '24h', '366d'])
    t.strictSame(
      statusAndBody(await retire(first.id, { overlap })),
      { status: 409, body: { error: 'The signing secret has retired: create a new one' } },
      'what has retired never signs again',
    )
  for (const overlap of ['', '0s', '24', '24 h', '-1h', '1.5h', '367d', '1y', 'PT1H', '1h\0', '1h '])
    t.strictSame(fieldsOf(await retire(second.id, { overlap })), [422, 'overlap'], overlap)
  t.strictSame(fieldsOf(await retire(second.id, { overlap: 5, provider: 'c' })), [422, 'overlap', 'provider'])
  t.strictSame(fieldsOf(await retire(second.id, { overlap: '1y', x: 1 })), [422, 'overlap', 'x'])
  for (const body of ['null', '[]', '"24h"', '5']) t.equal((await retire(second.id, body)).status, 400, body)
  t.strictSame(statusAndBody(await retire(newId())), {
    status: 404,
    body: { error: 'Signing secret not found' },
  })

  for (let again = 0; again < 2; again++)
    t.equal((await workspace.call('DELETE', `${path}/${second.id}`)).status, 204)
  t.equal((await retire(second.id)).status, 409)
  matchLists(t, (await workspace.call('GET', `${path}?provider=b`)).body, {
    data: [{ state: 'revoked', revokedAt: timestamp }],
  })
  for (const [body, expected] of [
    [{}, [422, 'provider']],
    [{ provider: 'A b' }, [422, 'provider']],
    [{ provider: 'a\0' }, [422, 'provider', 'provider']],
    [{ provider: 'a', secret: 'whsec_x' }, [422, 'secret']],
    [undefined, [400]],
  ] as const)
    t.strictSame(fieldsOf(await workspace.call('POST', path, { body })), expected, JSON.stringify(body))
})

t.test('a workspace has at most 50 active secrets, even with concurrent requests', async (t) => {
  const workspace = await api.makeWorkspace()
  const rows = Array.from({ length: 48 }, () => ({
    id: newId(),
    workspaceId: workspace.id,
    provider: 'x',
    sealed: Buffer.alloc(60),
  }))
  await workspace.database.signingSecret.createMany({ data: rows })
  const post = () => workspace.call('POST', `${developer}/signing-secrets`, { body: { provider: 'x' } })
  const answers = await Promise.all(Array.from({ length: 6 }, post))
  t.strictSame(answers.map(({ status }) => status).sort(), [201, 201, 409, 409, 409, 409])
  await workspace.call('DELETE', `${developer}/signing-secrets/${rows[0]?.id}`)
  t.equal((await post()).status, 201)
})

t.test('every change has one entry with its actor, and a change without an effect has none', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call, callAs, users } = workspace
  const created = await call<{ id: string; key: string }>('POST', `${developer}/api-keys`, {
    body: { name: 'CI', scopes: ['rules:write'] },
  })
  const key = created.body
  const secret = await makeSecret(workspace)
  const secretPath = `${developer}/signing-secrets/${secret.id}`
  const retired = await call<Secret>('POST', `${secretPath}/retire`, { body: { overlap: '1h' } })
  await putMember(workspace, 'grace', 'viewer')
  await putMember(workspace, 'grace', 'editor')
  await putMember(workspace, 'grace', 'editor')
  for (const path of [memberPath('grace'), memberPath('grace'), secretPath, secretPath])
    await call('DELETE', path)
  const workspacePath = `${developer}/workspaces/${workspace.id}`
  await call('PATCH', workspacePath, { body: { name: 'Renamed' } })
  await call('PATCH', workspacePath, { body: { name: 'Renamed', plan: 'standard' } })
  await call('PATCH', workspacePath, { body: { name: 'x', plan: 'enterprise' } })

  const { body: rule } = await api.call<Rule>('POST', rules, { token: key.key, body: ruleBody() })
  const path = `${rules}/${rule.id.toUpperCase()}`
  await callAs('editor')('PUT', path, { body: { name: 'Other', conditions: [], isActive: false } })
  await callAs('editor')('PUT', path, { body: { isActive: false, name: 'Other', actions: rule.actions } })
  await callAs('editor')('PUT', path, { body: { name: 'x' }, headers: { 'if-match': '"9"' } })
  await callAs('editor')('PUT', path, { body: { isActive: true } })
  await callAs('operator')('PATCH', `${path}/toggle`)
  await callAs('operator')('PATCH', `${path}/toggle`)
  const { body: clone } = await api.call<Rule>('POST', `${path}/clone`, { token: key.key })
  await callAs('editor')('DELETE', path)
  await callAs('editor')('DELETE', path)
  await call('DELETE', `${developer}/api-keys/${key.id}`)
  await call('DELETE', `${developer}/api-keys/${key.id}`)

  const [admin, editor, operator] = [users.admin, users.editor, users.operator].map((user) => `user:${user}`)
  const byKey = `api_key:${key.id}`
  const log = await readLog(workspace)
  t.strictSame(
    log.map(({ actor, action, subject, details }) => [actor, action, subject, details]),
    [
      [admin, 'api_key.created', key.id, { name: 'CI', scopes: ['rules:write'], expiresAt: null }],
      [admin, 'signing_secret.created', secret.id, { provider: 'billing' }],
      [
        admin,
        'signing_secret.retired',
        secret.id,
        { provider: 'billing', retiresAt: retired.body.retiresAt },
      ],
      [admin, 'member.added', 'grace', { role: 'viewer' }],
      [admin, 'member.changed', 'grace', { role: 'editor', before: 'viewer' }],
      [admin, 'member.removed', 'grace', {}],
      [admin, 'signing_secret.revoked', secret.id, { provider: 'billing' }],
      [admin, 'workspace.updated', workspace.id, { name: 'Renamed' }],
      [byKey, 'rule.created', rule.id, { name: 'A rule' }],
      [editor, 'rule.updated', rule.id, { changed: ['name', 'isActive'], version: 2, cancelled: 0 }],
      [editor, 'rule.updated', rule.id, { changed: ['isActive'], version: 2 }],
      [operator, 'rule.deactivated', rule.id, { cancelled: 0 }],
      [operator, 'rule.activated', rule.id, {}],
      [byKey, 'rule.cloned', clone.id, { from: rule.id }],
      [editor, 'rule.deleted', rule.id, { name: 'Other', cancelled: 0 }],
      [admin, 'api_key.revoked', key.id, { name: 'CI' }],
    ],
  )
  t.ok(log.every(({ at }) => timestamp.test(at)))
})

t.test('the audit log is paged and narrowed', async (t) => {
  const workspace = await api.makeWorkspace()
  const other = await api.makeWorkspace()
  await putMember(other, 'theirs', 'viewer')
  const rows = Array.from({ length: 60 }, (_, index) => ({
    id: newId(),
    workspaceId: workspace.id,
    actor: `user:${index % 3}`,
    action: index % 2 ? 'rule.updated' : 'member.added',
    subject: `subject ${index % 5}`,
    details: { index },
  }))
  await workspace.database.auditEntry.createMany({ data: rows })
  const indexes = (entries: Entry[]) => entries.map(({ details }) => details.index)
  const expected = (filter: (index: number) => boolean) => [...rows.keys()].filter(filter)
  t.strictSame(
    indexes(await readLog(workspace)),
    expected(() => true),
  )
  t.strictSame(
    indexes(await readLog(workspace, '&actor=user:1')),
    expected((index) => index % 3 === 1),
  )
  t.strictSame(
    indexes(await readLog(workspace, '&action=rule.updated')),
    expected((index) => index % 2 === 1),
  )
  t.strictSame(
    indexes(await readLog(workspace, '&subject=subject%202&actor=user:2')),
    expected((index) => index % 5 === 2 && index % 3 === 2),
  )
  t.strictSame(await readLog(workspace, '&subject=subject%25'), [])
  const old = { ...rows[0], id: firstIdOf(Date.parse('2026-01-02T12:00:00Z')), details: { index: 60 } }
  const storedAt = new Date('2026-01-02T12:00:00Z')
  await workspace.database.auditEntry.create({ data: { ...old, at: storedAt } as never })
  t.strictSame(indexes(await readLog(workspace, '&from=2026-01-02&to=2026-01-03')), [60])
  t.strictSame(indexes(await readLog(workspace, '&to=2026-01-02T12:00:00Z')), [], 'to is exclusive')
  t.strictSame(indexes(await readLog(workspace, '&from=2026-01-02T12:00:00Z&to=2026-01-02T12:00:01Z')), [60])
  t.strictSame(
    indexes(await readLog(workspace, '&from=2026-01-03')),
    expected(() => true),
  )
  await workspace.database.auditEntry.delete({ where: { id: old.id } })
  const first = await workspace.call<{ data: Entry[]; nextCursor: string }>('GET', `${developer}/audit-log`)
  t.equal(first.body.data.length, 50)
  t.match((await workspace.call('GET', `${developer}/audit-log?cursor=${first.body.nextCursor}`)).body, {
    data: { length: 10 },
    nextCursor: null,
  })
  for (const query of [
    'limit=0',
    'limit=251',
    'limit=x',
    'cursor=x',
    'action=x',
    'from=x',
    'to=2026-13-01',
    'actor=%00',
    'subject=a%00b',
    'actor=a&actor=b',
  ])
    t.equal((await workspace.call('GET', `${developer}/audit-log?${query}`)).status, 400, query)
  for (const query of ['workspaceId=x', 'OR=x', 'actor[contains]=u'])
    t.match(await workspace.call('GET', `${developer}/audit-log?${query}`), {
      status: 400,
      body: { error: / is unknown\. / },
    })
  for (const query of ['actor=%ED%A0%80', 'subject=\ud800'])
    t.equal((await workspace.call('GET', `${developer}/audit-log?${query}`)).status, 200, query)
})

const tagOf: Record<string, string> = {
  'api-keys': 'API keys',
  'signing-secrets': 'Signing secrets',
  credentials: 'Credentials',
  subscriptions: 'Subscriptions',
  members: 'Workspaces and members',
  workspaces: 'Workspaces and members',
}

t.test('the OpenAPI document has every route, with its tag and refusals', async (t) => {
  const workspace = await api.makeWorkspace()
  const document = JSON.parse(JSON.stringify(api.app.swagger())) as Document
  const names = new Map(Object.keys(document.paths).map((path) => [path.replace(/\/$/, ''), path]))
  const operationOf = ({ method, path }: Route) => {
    const template = path
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, '{id}')
      .replace(/(members)\/\w+/, '$1/{userId}')
      .replace(/(credentials)\/\w+/, '$1/{name}')
    return document.paths[names.get(developer + template) ?? '']?.[method.toLowerCase()]
  }
  for (const route of await prepareWrites(workspace)) {
    const operation = operationOf(route)
    const title = `${route.method} ${route.path}`
    t.ok(operation?.summary, title)
    t.strictSame(operation?.tags, [tagOf[route.path.split('/')[1] ?? '']], title)
    for (const status of [route.status, 400, 401, 403, 429, 500, 503])
      t.ok(operation?.responses[status], `${title} documents ${status}`)
  }
  t.match(document.components.securitySchemes, { token: {}, workspace: {}, apiKey: { scheme: 'bearer' } })
  t.strictSame(document.security, [{ token: [], workspace: [] }, { apiKey: [] }])
})

t.test('a change clears the caches of permissions, and a refused one does not', async (t) => {
  const { call, users } = await api.makeWorkspace()
  let clears = 0
  const counting = { clear: () => void clears++ }
  api.app.accessCaches.push(counting)
  t.teardown(() => api.app.accessCaches.splice(api.app.accessCaches.indexOf(counting), 1))
  const path = `${developer}/members/${users.viewer}`
  const body = { role: 'operator' }
  t.equal((await call('PUT', path, { body, token: 'nobody' })).status, 401)
  t.equal((await call('PUT', path, { body: { role: 'king' } })).status, 422)
  t.equal(clears, 0)
  t.equal((await call('PUT', path, { body })).status, 200)
  t.equal(clears, 1)
})

t.test(
  'an outgoing secret may name any host that a rule can call, and an incoming one a provider in a path',
  async (t) => {
    const { call } = await api.makeWorkspace()
    const path = `${developer}/signing-secrets`
    const longest = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`
    for (const provider of [longest, '[2001:db8::1]', 'hooks.example.com']) {
      const body = { provider, direction: 'outgoing' }
      t.equal((await call('POST', path, { body })).status, 201, provider)
      t.match((await call('GET', `${path}?provider=${encodeURIComponent(provider)}`)).body, {
        data: [{ provider, direction: 'outgoing' }],
      })
    }
    for (const provider of [longest, '[2001:db8::1]'])
      t.match(await call('POST', path, { body: { provider } }), {
        status: 422,
        body: { errors: [{ field: 'provider' }] },
      })
    for (const provider of [`${longest}e`, '[x]', '[]', '::1'])
      t.equal((await call('POST', path, { body: { provider, direction: 'outgoing' } })).status, 422, provider)
  },
)
