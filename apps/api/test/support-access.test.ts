import { setTimeout } from 'node:timers/promises'
import { findMembership, putMember } from '@automation/access'
import type { Role } from '@automation/database'
import t from 'tap'
import { type Answer, mint, rules, startApi, type Workspace } from './fixtures/api.js'
import { createResolver, readOperations } from './fixtures/security/operations.js'
import { sampleBody } from './fixtures/security/sample-body.js'

const { api, document, operations } = await readOperations(() => startApi(t))
const members = '/api/developer/v1/members'
const invitations = '/api/developer/v1/invitations'
const hourMs = 3_600_000

interface Listed {
  userId: string
  role: Role
  endsAt: string | null
  reason: string | null
}

let count = 0
async function makeHelper() {
  const userId = `dana-${Date.now()}-${count++}`
  const token = await mint(userId)
  const ask = (workspace: Workspace, path = rules) =>
    api.call('GET', path, { token, workspace: workspace.id })
  return { userId, token, ask }
}

const grant = ({ call }: Workspace, userId: string, body: object = {}) =>
  call<Listed>('PUT', `${members}/${userId}`, {
    body: { role: 'viewer', endsInHours: 4, reason: 'Ticket 4711', ...body },
  })

const listed = async ({ call }: Workspace, userId: string) =>
  (await call<{ data: Listed[] }>('GET', members)).body.data.find((member) => member.userId === userId)

/** As time does it. */
async function end({ database }: Workspace, userId: string) {
  await database.member.updateMany({ where: { userId }, data: { endsAt: new Date(Date.now() - 1_000) } })
  for (const cache of api.app.accessCaches) cache.clear()
}

async function entriesOf({ database }: Workspace, subject: string) {
  const rows = await database.auditEntry.findMany({ where: { subject }, orderBy: { id: 'asc' } })
  return rows.map(({ actor, action, details }) => ({ actor, action, details }))
}

t.test(
  'an admin grants support access for some hours, sees it in the list, and ends it at once',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const dana = await makeHelper()
    t.match(await dana.ask(workspace), { status: 403 })
    const before = Date.now()
    const granted = await grant(workspace, dana.userId)
    t.match(granted, { status: 201, body: { role: 'viewer', reason: 'Ticket 4711' } })
    const endsAt = Date.parse(granted.body.endsAt ?? '')
    t.ok(Math.abs(endsAt - before - 4 * hourMs) < hourMs / 2, 'by the clock of Postgres')
    t.match(await listed(workspace, dana.userId), {
      role: 'viewer',
      endsAt: granted.body.endsAt,
      reason: 'Ticket 4711',
    })
    for (const cache of api.app.accessCaches) cache.clear()
    t.match(await dana.ask(workspace), { status: 200 })
    const me = await api.call<{ workspaces: object[] }>('GET', '/api/me', { token: dana.token })
    t.match(me.body.workspaces, [{ id: workspace.id, role: 'viewer', endsAt: granted.body.endsAt }])

    t.match(await workspace.call('DELETE', `${members}/${dana.userId}`), { status: 204 })
    t.match(await dana.ask(workspace), { status: 403 }, 'at once in this process')
    t.match(await entriesOf(workspace, dana.userId), [
      {
        action: 'member.added',
        details: { role: 'viewer', endsAt: granted.body.endsAt, reason: 'Ticket 4711' },
      },
      { action: 'member.removed' },
    ])
  },
)

t.test('it ends by the clock of Postgres: nothing shows who had it, and a grant begins anew', async (t) => {
  const workspace = await api.makeWorkspace()
  const dana = await makeHelper()
  await grant(workspace, dana.userId)
  await end(workspace, dana.userId)
  t.equal(await findMembership(api.app.database, workspace.id, dana.userId), undefined)
  t.match(await dana.ask(workspace), { status: 403, body: { error: 'Access denied' } })
  t.equal(await listed(workspace, dana.userId), undefined)
  t.match(await workspace.call('GET', `${members}/${dana.userId}`), { status: 404 })
  const me = await api.call<{ workspaces: object[] }>('GET', '/api/me', { token: dana.token })
  t.strictSame(me.body.workspaces, [])
  t.match(await workspace.call('DELETE', `${members}/${dana.userId}`), { status: 404 })
  t.match(await grant(workspace, dana.userId), { status: 201 }, 'it is new')
  const actions = (await entriesOf(workspace, dana.userId)).map(({ action }) => action)
  t.strictSame(actions, ['member.added', 'member.added'], 'an end that time brings needs no entry')
})

t.test('requests that go on all the time are refused within a second of the end', async (t) => {
  const workspace = await api.makeWorkspace()
  const dana = await makeHelper()
  await grant(workspace, dana.userId)
  for (const cache of api.app.accessCaches) cache.clear()
  const { system } = api.app.database
  const [{ endsAt } = { endsAt: 0 }] = await system.$queryRaw<{ endsAt: number }[]>`
    UPDATE members SET ends_at = clock_timestamp() + interval '1.5 seconds'
    WHERE workspace_id = ${workspace.id}::uuid AND user_id = ${dana.userId}
    RETURNING date_part('epoch', ends_at) * 1000 AS "endsAt"`
  const readClock = async () => {
    const [row] = await system.$queryRaw<{ now: number }[]>`
      SELECT date_part('epoch', clock_timestamp()) * 1000 AS now`
    return row?.now ?? Number.NaN
  }
  // No test waits for a time here: on a slow machine all of this is later, and still true.
  let [after, longestMs, lastServed] = [0, 0, 0]
  while (after < 5) {
    const startedAt = await readClock()
    const began = performance.now()
    const { status } = await dana.ask(workspace)
    longestMs = Math.max(longestMs, performance.now() - began)
    if ((await readClock()) < endsAt) {
      t.equal(status, 200, 'it has not ended')
    } else if (status === 200) {
      t.equal(after, 0, 'once refused, always refused')
      lastServed = startedAt
    } else {
      t.equal(status, 403)
      after++
    }
    await setTimeout(100)
  }
  // A membership is kept for a second, from the end of the request that has read it.
  t.ok(lastServed < endsAt + 1_000 + longestMs + 50, `${lastServed - endsAt} ms after its end`)
  t.equal(await listed(workspace, dana.userId), undefined)
})

t.test('the clock of the API does not decide', async (t) => {
  const workspace = await api.makeWorkspace()
  const dana = await makeHelper()
  await grant(workspace, dana.userId, { endsInHours: 72 })
  for (const cache of api.app.accessCaches) cache.clear()
  const now = Date.now()
  t.intercept(Date, 'now', { value: () => now + 100 * hourMs })
  t.match(await findMembership(api.app.database, workspace.id, dana.userId), { isSupport: true })
  t.match(await api.app.database.forWorkspace(workspace.id).member.count(), 5)
})

t.test(
  'to grant it again moves the end, at most 72 hours from then, and has an entry of its own',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const dana = await makeHelper()
    const first = await grant(workspace, dana.userId, { endsInHours: 72 })
    const second = await grant(workspace, dana.userId, { endsInHours: 72, reason: 'Still the same' })
    t.equal(second.status, 200)
    const gained = Date.parse(second.body.endsAt ?? '') - Date.parse(first.body.endsAt ?? '')
    t.ok(gained >= 0 && gained < hourMs, 'hours do not add up')
    const shorter = await grant(workspace, dana.userId, { endsInHours: 1 })
    t.ok(Date.parse(shorter.body.endsAt ?? '') < Date.parse(first.body.endsAt ?? ''))
    t.match(await entriesOf(workspace, dana.userId), [
      { action: 'member.added' },
      {
        action: 'member.changed',
        details: { before: 'viewer', endsAt: second.body.endsAt, reason: 'Still the same' },
      },
      { action: 'member.changed', details: { endsAt: shorter.body.endsAt } },
    ])
  },
)

t.test('what is no support access is refused, and changes nothing', async (t) => {
  const workspace = await api.makeWorkspace()
  const dana = await makeHelper()
  const refused: [fields: object, field: string][] = [
    [{ endsInHours: 0 }, 'endsInHours'],
    [{ endsInHours: -4 }, 'endsInHours'],
    [{ endsInHours: 73 }, 'endsInHours'],
    [{ endsInHours: 1.5 }, 'endsInHours'],
    [{ endsInHours: null }, 'endsInHours'],
    [{ endsInHours: '4' }, 'endsInHours'],
    [{ role: 'operator' }, 'role'],
    [{ role: 'editor' }, 'role'],
    [{ role: 'admin' }, 'role'],
    [{ endsInHours: undefined }, 'reason'],
    [{ reason: '' }, 'reason'],
    [{ reason: 'x'.repeat(501) }, 'reason'],
    [{ endsAt: '2030-01-01T00:00:00Z' }, 'endsAt'],
  ]
  for (const [fields, field] of refused)
    t.match(
      await grant(workspace, dana.userId, fields),
      { status: 422, body: { errors: [{ field }] } },
      JSON.stringify(fields),
    )
  t.equal(await listed(workspace, dana.userId), undefined)
  for (const role of ['viewer', 'editor', 'admin'] as const)
    t.match(
      await grant(workspace, workspace.users[role]),
      { status: 409, body: { error: /does not end/ } },
      `a ${role} does not become one who ends`,
    )
})

t.test(
  'a member of support becomes one that stays by a role or an invitation, and nothing else',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const [dana, dee] = [await makeHelper(), await makeHelper()]
    await grant(workspace, dana.userId)
    const put = await workspace.call<Listed>('PUT', `${members}/${dana.userId}`, { body: { role: 'viewer' } })
    t.match(put, { status: 200, body: { role: 'viewer', endsAt: null, reason: null } })

    await grant(workspace, dee.userId)
    const { body } = await workspace.call<{ token: string }>('POST', invitations, {
      body: { role: 'viewer' },
    })
    const accept = await api.call('POST', `${invitations}/accept`, {
      token: dee.token,
      body: { token: body.token },
    })
    t.match(accept, { status: 200, body: { currentRole: 'viewer', accepted: true } })
    t.match(await listed(workspace, dee.userId), { endsAt: null, reason: null })
  },
)

t.test('who had support access accepts an invitation like a stranger', async (t) => {
  const workspace = await api.makeWorkspace()
  const dana = await makeHelper()
  await grant(workspace, dana.userId)
  await end(workspace, dana.userId)
  const { body } = await workspace.call<{ token: string }>('POST', invitations, { body: { role: 'viewer' } })
  const accept = (fields: object) =>
    api.call('POST', `${invitations}/accept`, { token: dana.token, body: { token: body.token, ...fields } })
  t.match(await accept({ dryRun: true }), { status: 200, body: { currentRole: null } })
  t.match(await accept({}), { status: 200, body: { currentRole: 'viewer' } })
})

t.test('support access reads what a viewer reads without credentials, and writes nothing', async (t) => {
  const workspace = await api.makeWorkspace()
  const dana = await makeHelper()
  await grant(workspace, dana.userId)
  for (const cache of api.app.accessCaches) cache.clear()
  const { token } = dana
  const open = operations.filter(({ isOpen, isAboutCaller }) => !isOpen && !isAboutCaller)
  const readable: string[] = []
  for (const { method, path, title, body, role } of open) {
    const sample = body && sampleBody(body, createResolver(document))
    const answer: Answer = await api.call(method, path.replaceAll(/\{\w+\}/g, 'x'), {
      token,
      workspace: workspace.id,
      ...(sample && { body: 'dryRun' in sample ? { ...sample, dryRun: false } : sample }),
      headers: { prefer: 'respond-async' },
    })
    if (answer.status !== 403) readable.push(title)
    if (role !== 'viewer' && typeof role !== 'function') t.equal(answer.status, 403, title)
  }
  t.ok(readable.length > 25)
  const secretive = /credential|secret|api-key|member|invitation|audit|subscription|ledger/
  t.strictSame(
    readable.filter((title) => secretive.test(title)),
    [],
  )
  const writes = readable.filter((title) => !title.startsWith('GET '))
  const database = workspace.database
  t.strictSame(
    await Promise.all([database.event.count(), database.rule.count(), database.auditEntry.count()]),
    [0, 0, 1],
    `only the grant was written, though these look like writes: ${writes.join(', ')}`,
  )
})

t.test('no warning tells support of credentials', async (t) => {
  const workspace = await api.makeWorkspace()
  const dana = await makeHelper()
  await grant(workspace, dana.userId)
  for (const cache of api.app.accessCaches) cache.clear()
  const credential = { value: 'tok_hidden', hosts: ['secret-host.example.com'] }
  const path = '/api/developer/v1/credentials/PARTNER_TOKEN'
  t.match(await workspace.call('PUT', path, { body: credential }), { status: 201 })
  const action = (name: string) => ({
    type: 'SEND_WEBHOOK',
    config: { url: 'https://other.example.com/', headers: { 'x-token': `{{credentials.${name}}}` } },
  })
  const rule = {
    name: 'x',
    trigger: 'LEAD_CREATED',
    conditions: [],
    actions: ['PARTNER_TOKEN', 'PARTNER_TOKE'].map(action),
  }
  for (const [route, body] of [
    ['validate', rule],
    ['check', { rules: [rule] }],
  ] as const) {
    const ask = async (caller: object) =>
      JSON.stringify(
        (await api.call('POST', `${rules}/${route}`, { workspace: workspace.id, ...caller, body })).body,
      )
    const seen = await ask({ token: workspace.tokens.viewer })
    t.match(seen, 'secret-host.example.com', `${route}: a viewer who stays`)
    t.notMatch(
      await ask({ token: dana.token }),
      /secret-host|No credential|Did you mean/,
      `${route}: support`,
    )
  }
})

t.test('what an operator takes is in the audit log and the list, and the workspace ends it', async (t) => {
  const workspace = await api.makeWorkspace()
  const dana = await makeHelper()
  const operator = { database: api.app.database, workspaceId: workspace.id, actor: 'cli:root' }
  const reason = 'Ticket 4711'
  await putMember(operator, { userId: dana.userId, role: 'viewer', endsInHours: 1, reason })
  for (const cache of api.app.accessCaches) cache.clear()
  t.match(await dana.ask(workspace), { status: 200 })
  t.match(await entriesOf(workspace, dana.userId), [
    { actor: 'cli:root', action: 'member.added', details: { reason } },
  ])
  t.match(await listed(workspace, dana.userId), { reason })
  await workspace.call('DELETE', `${members}/${dana.userId}`)
  t.match(await dana.ask(workspace), { status: 403 })
})
