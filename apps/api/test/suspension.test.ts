import { createDecisionTokens } from '@automation/access'
import { closeWorkspace, resumeWorkspace, suspendWorkspace } from '@automation/rules'
import t from 'tap'
import { encryptionKey, ruleBody, startApi, type Workspace } from './fixtures/api.js'
import { askDecision } from './fixtures/ask-decision.js'
import { makeSender } from './fixtures/sender.js'

const api = await startApi(t)
const developer = '/api/developer/v1'
const rules = '/api/automation-rules'
const of = ({ id }: Workspace) => `${developer}/workspaces/${id}`
const suspended = { status: 403, headers: { 'x-error-code': 'workspace_suspended' } }
const operator = ({ id: workspaceId }: Workspace) => {
  return { database: api.app.database, workspaceId, actor: 'cli:ops' }
}

async function makeKey({ call }: Workspace, scopes: string[]): Promise<string> {
  const { body } = await call<{ key: string }>('POST', `${developer}/api-keys`, {
    body: { name: 'Key', scopes },
  })
  return (body as { key: string }).key
}

t.test('in a suspended workspace its admins read, and nobody else does anything', async (t) => {
  const workspace = await api.makeWorkspace()
  const key = await makeKey(workspace, ['admin'])
  const { call, callAs } = workspace
  const rule = await call<{ id: string }>('POST', rules, { body: ruleBody() })
  t.match(await call('PUT', `${of(workspace)}/suspension`), {
    status: 200,
    body: { suspendedAt: String, suspendedBy: `user:${workspace.users.admin}`, deletesAt: null },
  })
  for (const path of [
    rules,
    `${rules}/${rule.body.id}`,
    '/api/events',
    `${developer}/audit-log`,
    of(workspace),
  ])
    t.equal((await call('GET', path)).status, 200, `an admin reads ${path}`)
  const writes = [
    ['POST', rules, ruleBody()],
    ['POST', '/api/events', { eventType: 'LEAD_CREATED', data: {} }],
    ['POST', '/api/events', { eventType: 'LEAD_CREATED', data: {}, dryRun: true }],
    ['PATCH', of(workspace), { name: 'Other' }],
    ['PUT', `${developer}/members/${workspace.users.admin}`, { role: 'admin' }],
    ['POST', `${developer}/workspaces`, { name: 'Another' }],
    ['DELETE', `${rules}/${rule.body.id}`, undefined],
  ] as const
  for (const [method, path, body] of writes)
    t.match(await call(method, path, { body }), suspended, `an admin does not ${method} ${path}`)
  for (const role of ['viewer', 'operator', 'editor'] as const)
    t.match(await callAs(role)('GET', rules), suspended, `a member with the role ${role} reads nothing`)
  t.match(await callAs('editor')('DELETE', `${of(workspace)}/suspension`), suspended)
  t.match(await call('GET', rules, { token: key }), suspended, 'nor does a key')
  t.match(await call('DELETE', `${of(workspace)}/suspension`, { token: key }), suspended)
  const { body } = await call<{ workspaces: object[] }>('GET', '/api/me', { workspace: undefined })
  t.match(body, { workspaces: [{ id: workspace.id, suspendedAt: String }] }, 'its members still find it')
  t.match(await call('DELETE', `${of(workspace)}/suspension`), { status: 200, body: { suspendedAt: null } })
  t.equal((await callAs('viewer')('GET', rules)).status, 200, 'at once')
  const entries = await workspace.database.auditEntry.findMany({ orderBy: { id: 'asc' } })
  t.strictSame(
    entries.map(({ action }) => action).filter((action) => action.startsWith('workspace.')),
    ['workspace.suspended', 'workspace.resumed'],
  )
})

t.test('a request of a workspace that moves to another installation gets 503 and Retry-After', async (t) => {
  const workspace = await api.makeWorkspace()
  const key = await makeKey(workspace, ['admin'])
  const { deliver } = await makeSender(api, workspace)
  await closeWorkspace(operator(workspace), workspace.id)
  const later = { status: 503, headers: { 'retry-after': '2', 'x-error-code': 'unavailable' } }
  t.match(await workspace.call('PUT', `${developer}/members/grace`, { body: { role: 'viewer' } }), later)
  for (const cache of api.app.accessCaches) cache.clear()
  t.match(await workspace.call('GET', rules), later, 'an admin, too')
  t.match(await workspace.call('PUT', `${of(workspace)}/suspension`), later)
  t.match(await workspace.call('POST', '/api/events', { body: {}, token: key }), later)
  t.match(await deliver(), later, 'a webhook')
  t.match(
    await deliver({ headers: { 'x-signature': 'v1=wrong' } }),
    { status: 401 },
    'but not who has no secret',
  )
})

t.test('only an admin who is a person suspends or deletes, and only the own workspace', async (t) => {
  const [workspace, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  const key = await makeKey(workspace, ['admin'])
  const routes = [
    ['PUT', 'suspension', undefined],
    ['DELETE', 'suspension', undefined],
    ['PUT', 'deletion', { name: 'Tests' }],
    ['DELETE', 'deletion', undefined],
  ] as const
  for (const [method, what, body] of routes) {
    const path = `${of(workspace)}/${what}`
    t.match(await workspace.call(method, path, { body, token: key }), {
      status: 403,
      headers: { 'x-error-code': 'access_denied' },
    })
    t.equal((await workspace.callAs('editor')(method, path, { body })).status, 403)
    t.equal((await other.call(method, path, { body })).status, 404)
    t.match(await workspace.call(method, path, { body, token: other.tokens.admin }), {
      status: 403,
      headers: { 'x-error-code': 'not_a_member' },
    })
  }
  t.match(await workspace.call('GET', of(workspace)), { body: { suspendedAt: null, deletesAt: null } })
})

t.test('a deletion needs the name, suspends at once, and is undone to what was before', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  const wrong = { status: 422, body: { errors: [{ field: 'name' }] } }
  for (const name of ['tests', 'Tests ', ''])
    t.match(await call('PUT', `${of(workspace)}/deletion`, { body: { name } }), wrong)
  t.equal((await call('PUT', `${of(workspace)}/deletion`, {})).status, 400)
  t.match(await call('GET', of(workspace)), { body: { deletesAt: null } })
  await call('PUT', `${of(workspace)}/suspension`)
  const asked = await call<{ deletesAt: string }>('PUT', `${of(workspace)}/deletion`, {
    body: { name: 'Tests' },
  })
  const inDays = (Date.parse(asked.body.deletesAt) - Date.now()) / 86_400_000
  t.ok(inDays > 6.9 && inDays < 7.1)
  const again = await call<{ deletesAt: string }>('PUT', `${of(workspace)}/deletion`, {
    body: { name: 'Tests' },
  })
  t.equal(again.body.deletesAt, asked.body.deletesAt, 'to ask again changes nothing')
  t.match(await call('DELETE', `${of(workspace)}/suspension`), suspended, 'the deletion is undone first')
  t.match(await call('DELETE', `${of(workspace)}/deletion`), {
    status: 200,
    body: { deletesAt: null, suspendedAt: String },
  })
  t.match(await call('POST', rules, { body: ruleBody() }), suspended)
  await call('DELETE', `${of(workspace)}/suspension`)
  t.equal((await call('POST', rules, { body: ruleBody() })).status, 201)
})

t.test('what the operator has suspended no admin resumes or deletes', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  await call('PUT', `${of(workspace)}/suspension`)
  await suspendWorkspace(operator(workspace))
  for (const cache of api.app.accessCaches) cache.clear()
  t.match(await call('DELETE', `${of(workspace)}/suspension`), suspended)
  t.match(await call('PUT', `${of(workspace)}/deletion`, { body: { name: 'Tests' } }), suspended)
  t.match(await call('GET', of(workspace)), { status: 200, body: { suspendedBy: 'cli:ops' } })
  await resumeWorkspace(operator(workspace))
  t.match(await call('GET', of(workspace)), { body: { suspendedAt: null } })
})

t.test('a change that passed the check of a cached membership is refused by its transaction', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call, users } = workspace
  await call('GET', rules)
  // As another process does it: the caches of this one do not know.
  await suspendWorkspace(operator(workspace))
  t.match(await call('PUT', `${developer}/members/grace`, { body: { role: 'viewer' } }), suspended)
  t.equal(await workspace.database.member.count(), Object.keys(users).length)
})

t.test('a webhook of a suspended workspace gets the one 401, and leaves nothing', async (t) => {
  const workspace = await api.makeWorkspace()
  const sender = await makeSender(api, workspace)
  t.equal((await sender.deliver({})).status, 202)
  await workspace.call('PUT', `${of(workspace)}/suspension`)
  const refused = await sender.deliver({})
  t.match(refused, {
    status: 401,
    body: { error: 'Authentication required' },
    headers: { 'x-error-code': 'invalid_signature' },
  })
  t.equal(await workspace.database.webhookRejection.count(), 0)
  await workspace.call('DELETE', `${of(workspace)}/suspension`)
  t.equal((await sender.deliver({})).status, 202)
})

t.test('the page of a decision says that the workspace is suspended, and decides nothing', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id } = await askDecision(workspace, {}, {}, 'Ask')
  const token = createDecisionTokens(encryptionKey).make({ workspaceId: workspace.id, executionId: id })
  const url = `/decide/${workspace.id}/${id}/${token}/approve`
  const [, page = ''] = /name="page" value="([0-9a-f]+)"/.exec((await api.app.inject({ url })).payload) ?? []
  await workspace.call('PUT', `${of(workspace)}/suspension`)
  const shown = await api.app.inject({ url })
  t.match(shown, { statusCode: 200, payload: /is suspended, so nobody can decide/ })
  t.notMatch(shown.payload, /<button/)
  const pressed = await api.app.inject({
    ...{ method: 'POST', url, payload: new URLSearchParams({ page, choice: 'approve' }).toString() },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  t.match(pressed, { statusCode: 403, payload: /is suspended, so nobody can decide/ })
  t.match(await workspace.database.execution.findFirst({ where: { id } }), { decision: null })
  await workspace.call('DELETE', `${of(workspace)}/suspension`)
  t.match((await api.app.inject({ url })).payload, /<button/)
})

t.test('nobody becomes a member of a suspended workspace by an invitation', async (t) => {
  const workspace = await api.makeWorkspace()
  const invitations = `${developer}/invitations`
  const { body } = await workspace.call<{ token: string }>('POST', invitations, { body: { role: 'viewer' } })
  await workspace.call('PUT', `${of(workspace)}/suspension`)
  const { token } = body as { token: string }
  const other = await api.makeWorkspace()
  t.match(
    await api.call('POST', `${invitations}/accept`, { token: other.tokens.admin, body: { token } }),
    suspended,
  )
})
