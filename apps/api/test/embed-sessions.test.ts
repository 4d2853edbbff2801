import { isUuid, newId } from '@automation/database'
import t from 'tap'
import { rules, startApi, type Workspace } from './fixtures/api.js'
import { limited, type Made, makeKey, makeSession, open, openSession, sessions } from './fixtures/embed.js'

const api = await startApi(t)

const none = {
  status: 404,
  headers: { 'x-error-code': 'embed_session_not_found' },
  body: {
    error: 'The embed session is unknown or over, or its link was used or is too old: ask for a new one',
  },
}
const over = { status: 401, headers: { 'x-error-code': 'invalid_token' } }
const access = { status: 403, headers: { 'x-error-code': 'access_denied' } }

/** Moves the times of a session, which are those of Postgres. */
async function makeOlder({ id: workspaceId }: Workspace, id: string, ms: number): Promise<void> {
  await api.app.database.run(
    `make_older_${ms}`,
    `UPDATE embed_sessions SET created_at = created_at - ${ms} * interval '1 ms', expires_at = expires_at - ${ms} * interval '1 ms'
     WHERE id = $1::uuid AND workspace_id = $2::uuid`,
    [id, workspaceId],
  )
}

t.test('a key makes a session whose link opens it once, and the API knows what it may', async (t) => {
  const workspace = await api.makeWorkspace()
  const { key, id: keyId } = await makeKey(workspace, ['embed', 'rules:write'])
  const asked = {
    user: { id: 'customer 42', name: 'Ada <b>Lovelace</b>' },
    role: 'editor',
    pages: ['rules', 'executions'],
    allow: { actions: ['CREATE_TASK'], credentials: [] },
    locale: 'de-CH',
    appearance: { accent: '#0055cc', density: 'compact' },
  }
  const { status, headers, body } = await api.call<Made>('POST', sessions, {
    token: key,
    body: asked,
  })
  t.equal(status, 201)
  t.equal(headers['cache-control'], 'no-store')
  t.equal(headers.location, `${sessions}/${body.id}`)
  t.strictSame(Object.keys(body), ['id', 'url', 'expiresAt'])
  const list = await workspace.call<{ data: Record<string, string>[] }>('GET', sessions)
  const [listed = {}] = list.body.data
  t.match(listed, { id: body.id, user: asked.user, publish: false, rule: null, openedAt: null })
  t.equal(listed.createdBy, `api_key:${keyId}`)
  t.equal(Date.parse(body.expiresAt) - Date.parse(String(listed.createdAt)), 3_600_000, 'an hour')
  const url = new URL(body.url)
  t.equal(url.origin + url.pathname, `http://127.0.0.1:3003/embed/${body.id}`)
  const secret = url.hash.slice(1)
  t.equal(Buffer.from(secret, 'base64url').length, 32)

  const opened = await open(api, { id: body.id, secret })
  t.equal(opened.status, 200)
  t.equal(opened.headers['cache-control'], 'no-store')
  const { token, workspaceId, origins: _, ...grant } = opened.body
  const { id, expiresAt } = body
  t.strictSame(grant, { id, ...asked, publish: false, expiresAt })
  t.equal(workspaceId, workspace.id)

  const me = await api.call<Record<string, unknown>>('GET', '/api/me', { token })
  t.match(me.body, { actor: `embed:${id}`, userId: null, scopes: null, embed: grant })
  t.match(me.body.workspaces, [{ id: workspace.id, role: 'editor' }])
  t.equal((await api.call('GET', rules, { token })).status, 200)

  const rows = await workspace.database.embedSession.findMany()
  const entries = await workspace.database.auditEntry.findMany()
  for (const [text, name] of [
    [secret, 'the secret'],
    [token, 'the token'],
  ])
    t.notOk(JSON.stringify([rows, entries]).includes(String(text)), `${name} is not stored`)
  t.match(entries.at(-1), {
    actor: `api_key:${keyId}`,
    action: 'embed_session.created',
    subject: id,
    details: { userId: 'customer 42', role: 'editor' },
  })
})

t.test('what a session changes names the session, and never a member', async (t) => {
  const workspace = await api.makeWorkspace()
  // Named like an admin.
  const user = { id: workspace.users.admin, name: 'admin' }
  const { id, call } = await openSession(api, workspace, { user })
  const created = await call<{ id: string }>('POST', rules, {
    body: { name: 'Mine', trigger: 'LEAD_CREATED', actions: [], isActive: false },
  })
  t.equal(created.status, 422, 'the definition is checked as everywhere')
  const { body } = await call<{ id: string }>('POST', rules, {
    body: {
      name: 'Mine',
      trigger: 'LEAD_CREATED',
      actions: [{ type: 'CREATE_TASK', config: { title: 'x' } }],
      isActive: false,
    },
  })
  const [entry] = await workspace.database.auditEntry.findMany({ where: { subject: body.id } })
  t.equal(entry?.actor, `embed:${id}`)
  const [version] = await workspace.database.ruleVersion.findMany({ where: { ruleId: body.id } })
  t.equal(version?.createdBy, `embed:${id}`)
  const me = await call<{ userId: unknown; workspaces: unknown[] }>('GET', '/api/me')
  t.equal(me.body.userId, null)
  t.equal(me.body.workspaces.length, 1)
  const accepted = await call('POST', '/api/developer/v1/invitations/accept', { body: { token: 'x' } })
  t.match(accepted, limited, 'it joins nothing as that user')
})

t.test(
  'a link is worth nothing a second time, with another secret, after five minutes, or once it is ended',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const used = await makeSession(workspace)
    t.equal((await open(api, used)).status, 200)
    t.match(await open(api, used), none)

    const guessed = await makeSession(workspace)
    for (const secret of [used.secret, 'x', `${guessed.secret}x`, 'é'.repeat(50)])
      t.match(await open(api, { ...guessed, secret }), none, JSON.stringify(secret))
    t.equal((await open(api, guessed)).status, 200, 'what was guessed wrong has used nothing up')

    const older = await makeSession(workspace, { expiresIn: '12h' })
    await makeOlder(workspace, older.id, 300_000)
    t.match(await open(api, older), none, 'five minutes by the clock of Postgres')

    const ended = await makeSession(workspace)
    t.equal((await workspace.call('DELETE', `${sessions}/${ended.id}`)).status, 204)
    t.match(await open(api, ended), none)
    for (const id of [newId(), 'x', `${used.id}x`, '%00']) t.match(await open(api, { ...used, id }), none, id)
  },
)

t.test('of many exchanges at the same moment, one gets the token', async (t) => {
  const workspace = await api.makeWorkspace()
  const made = await makeSession(workspace)
  const answers = await Promise.all(Array.from({ length: 8 }, () => open(api, made)))
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 404, 404, 404, 404, 404, 404, 404])
  const { token } = answers.find(({ status }) => status === 200)?.body ?? {}
  t.equal((await api.call('GET', rules, { token: String(token) })).status, 200, 'that one works')
})

t.test('a session ends with its time, by DELETE, with its key, and with the admin who made it', async (t) => {
  const workspace = await api.makeWorkspace()
  const ask = (token: string) => api.call('GET', rules, { token })
  const timed = await openSession(api, workspace, { expiresIn: '1m' })
  t.equal((await ask(timed.token)).status, 200)
  await makeOlder(workspace, timed.id, 60_000)
  t.match(await ask(timed.token), over, 'time')

  const ended = await openSession(api, workspace)
  t.equal((await workspace.call('DELETE', `${sessions}/${ended.id}`)).status, 204)
  t.match(await ask(ended.token), over, 'DELETE')
  t.equal((await workspace.call('DELETE', `${sessions}/${ended.id}`)).status, 204, 'a repeat is the same')
  t.match(await workspace.call('DELETE', `${sessions}/${newId()}`), none)

  const { key, id: keyId } = await makeKey(workspace, ['embed', 'rules:write'])
  const byKey = await openSession(api, workspace, {}, { token: key, workspace: undefined })
  t.equal((await ask(byKey.token)).status, 200)
  const unopened = await makeSession(workspace, {}, { token: key })
  await workspace.call('DELETE', `/api/developer/v1/api-keys/${keyId}`)
  t.match(await ask(byKey.token), over, 'the key was revoked: the next request')
  t.match(await open(api, unopened), none, 'also its links')

  const short = await makeKey(
    workspace,
    ['embed', 'rules:write'],
    new Date(Date.now() + 3_600_000).toISOString(),
  )
  const byShort = await openSession(api, workspace, {}, { token: short.key })
  await workspace.database.apiKey.update({
    where: { id: short.id },
    data: { expiresAt: new Date(Date.now() - 1_000) },
  })
  t.match(await ask(byShort.token), over, 'the key has expired')

  const { call } = workspace
  const member = (role: string) =>
    call('PUT', `/api/developer/v1/members/${workspace.users.editor}`, { body: { role } })
  await member('admin')
  const byAdmin = await openSession(api, workspace, {}, { token: workspace.tokens.editor })
  t.equal((await ask(byAdmin.token)).status, 200)
  await member('editor')
  t.match(await ask(byAdmin.token), over, 'who made it is no admin any more')
  await member('admin')
  t.match(await ask(byAdmin.token), over, 'and it does not come back')
  await call('DELETE', `/api/developer/v1/members/${workspace.users.editor}`)
})

t.test('all sessions of a user end at once, and of nobody else', async (t) => {
  const [workspace, other] = await Promise.all([api.makeWorkspace(), api.makeWorkspace()])
  const mine = await Promise.all([openSession(api, workspace), openSession(api, workspace)])
  const bo = await openSession(api, workspace, { user: { id: 'bo' } })
  const elsewhere = await openSession(api, other)
  const { status, body } = await workspace.call<{ ended: number }>('DELETE', `${sessions}?userId=42`)
  t.strictSame([status, body], [200, { ended: 2 }])
  for (const { token } of mine) t.match(await api.call('GET', rules, { token }), over)
  for (const { call } of [bo, elsewhere]) t.equal((await call('GET', rules)).status, 200)
  t.strictSame((await workspace.call<object>('DELETE', `${sessions}?userId=42`)).body, { ended: 0 })
  t.equal((await workspace.call('DELETE', sessions)).status, 400, 'not all of a workspace by a slip')
  const entries = await workspace.database.auditEntry.findMany({ where: { action: 'embed_session.ended' } })
  t.match(entries, [{ subject: workspace.id, details: { userId: '42', sessions: 2 } }])
})

t.test('a session belongs to its workspace: another one, or none, in the header is refused', async (t) => {
  const [workspace, other] = await Promise.all([api.makeWorkspace(), api.makeWorkspace()])
  const { call, token, id } = await openSession(api, workspace)
  t.equal((await call('GET', rules, { workspace: workspace.id.toUpperCase() })).status, 200)
  t.match(await call('GET', rules, { workspace: other.id }), { status: 403 })
  t.match(await call('GET', '/api/me', { workspace: other.id }), { status: 403 })
  t.match(await call('GET', rules, { workspace: 'x' }), { status: 400 })
  t.match(await other.call('DELETE', `${sessions}/${id}`), none)
  const list = await other.call<{ data: object[] }>('GET', sessions)
  t.strictSame(list.body.data, [])
  for (const wrong of [
    `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`,
    `emb_${newId()}_${'A'.repeat(43)}`,
    'emb_',
    token.toUpperCase(),
  ])
    t.match(await api.call('GET', rules, { token: wrong }), { status: 401 })
})

t.test('a session has at most the role of its maker', async (t) => {
  const workspace = await api.makeWorkspace()
  const ask = (token: string, role: string) =>
    api.call('POST', sessions, {
      token,
      workspace: workspace.id,
      body: { user: { id: '42' }, role, pages: ['rules'] },
    })
  const most: [scopes: string[], roles: string[]][] = [
    [['embed'], []],
    [['embed', 'rules:read'], ['viewer']],
    [
      ['embed', 'rules:run'],
      ['viewer', 'operator'],
    ],
    [
      ['embed', 'rules:write'],
      ['viewer', 'operator', 'editor'],
    ],
    [['admin'], ['viewer', 'operator', 'editor']],
  ]
  for (const [scopes, roles] of most) {
    const { key } = await makeKey(workspace, scopes)
    for (const role of ['viewer', 'operator', 'editor'])
      t.equal((await ask(key, role)).status, roles.includes(role) ? 201 : 403, `${scopes} ${role}`)
    t.equal((await ask(key, 'admin')).status, 422, 'no session is an admin')
  }
  const { key } = await makeKey(workspace, ['rules:write'])
  t.match(await ask(key, 'viewer'), access, 'without the scope embed')
  for (const role of ['viewer', 'operator', 'editor'] as const)
    t.match(await ask(workspace.tokens[role], 'viewer'), access, `a member who is ${role}`)
  t.equal((await ask(workspace.tokens.admin, 'editor')).status, 201)
})

t.test('a session makes, lists and ends no sessions', async (t) => {
  const workspace = await api.makeWorkspace()
  const pages = ['rules', 'executions', 'events', 'decisions', 'tasks']
  const { call, id } = await openSession(api, workspace, { pages, publish: true })
  const body = { user: { id: '42' }, role: 'viewer', pages: ['rules'] }
  t.equal((await call('POST', sessions, { body })).status, 403)
  for (const [method, path] of [
    ['GET', sessions],
    ['DELETE', `${sessions}?userId=42`],
    ['DELETE', `${sessions}/${id}`],
  ] as const)
    t.equal((await call(method, path)).status, 403, `${method} ${path}`)
})

t.test('what is wrong with a session is said for each field', async (t) => {
  const workspace = await api.makeWorkspace()
  const usual = { user: { id: '42' }, role: 'viewer', pages: ['rules'] }
  const bad: [field: RegExp, body: object][] = [
    [/^user\.id$/, { user: { id: '' } }],
    [/^user\.id$/, { user: { id: 'a\u0000b' } }],
    [/^user\.name$/, { user: { id: '42', name: 'a\nb' } }],
    [/^user\.name$/, { user: { id: '42', name: 'a\u202eb' } }],
    [/^user\.name$/, { user: { id: '42', name: 'a\u0085b' } }],
    [/^user\.name$/, { user: { id: '42', name: 'x'.repeat(201) } }],
    [/^user\.id$/, { user: {} }],
    [/^user\.admin$/, { user: { id: '42', admin: true } }],
    [/^pages$/, { pages: [] }],
    [/^pages/, { pages: ['rules', 'rules'] }],
    [/^pages/, { pages: ['members'] }],
    [/^role$/, { role: 'admin' }],
    [/^expiresIn$/, { expiresIn: '13h' }],
    [/^expiresIn$/, { expiresIn: '0s' }],
    [/^expiresIn$/, { expiresIn: 'soon' }],
    [/^rule$/, { rule: 'x' }],
    [/^rule$/, { rule: newId() }],
    [/^locale$/, { locale: '<script>' }],
    [/^appearance\.accent$/, { appearance: { accent: 'red; background: url(x)' } }],
    [/^appearance\.fonts\[0\]$/, { appearance: { fonts: ['x;}'] } }],
    [/^appearance\.css$/, { appearance: { css: '*{}' } }],
    [/^allow\.actions/, { allow: { actions: ['SEND_SPAM'] } }],
    [/^allow\.urls$/, { allow: { urls: [] } }],
    [/^workspaceId$/, { workspaceId: newId() }],
  ]
  for (const [field, fields] of bad) {
    const { status, body } = await workspace.call<{ errors: { field: string }[] }>('POST', sessions, {
      body: { ...usual, ...fields },
    })
    t.equal(status, 422, JSON.stringify(fields))
    t.ok(
      body.errors?.some((one) => field.test(one.field)),
      `${field} in ${JSON.stringify(body)}`,
    )
  }
  const other = await api.makeWorkspace()
  const { body } = await other.call<{ id: string }>('POST', rules, {
    body: { name: 'x', trigger: 'LEAD_CREATED', actions: [{ type: 'CREATE_TASK', config: { title: 'x' } }] },
  })
  t.equal(
    (await workspace.call('POST', sessions, { body: { ...usual, rule: body.id } })).status,
    422,
    'a rule of others is one that is not there',
  )
  t.equal(await workspace.database.embedSession.count(), 0)
})

t.test('a key of the request makes one session, and a repeat has no link', async (t) => {
  const workspace = await api.makeWorkspace()
  const headers = { 'idempotency-key': 'a' }
  const body = { user: { id: '42' }, role: 'viewer', pages: ['rules'] }
  const first = await workspace.call<Made>('POST', sessions, { body, headers })
  const repeat = await workspace.call<Made>('POST', sessions, { body, headers })
  t.equal(repeat.body.id, first.body.id)
  t.equal(repeat.body.url, null)
  t.equal(await workspace.database.embedSession.count(), 1)
})

t.test('the live sessions of a workspace are listed in pages, also those of one user', async (t) => {
  const workspace = await api.makeWorkspace()
  const made: Made[] = []
  for (const id of ['a', 'b', 'a']) made.unshift(await makeSession(workspace, { user: { id } }))
  const ended = await makeSession(workspace)
  await workspace.call('DELETE', `${sessions}/${ended.id}`)
  const gone = await makeSession(workspace)
  await makeOlder(workspace, gone.id, 3_600_000)
  interface List {
    data: { id: string }[]
    nextCursor: string | null
  }
  const list = async (query: string) => (await workspace.call<List>('GET', `${sessions}${query}`)).body
  const idsOf = ({ data }: List) => data.map(({ id }) => id)
  t.strictSame(idsOf(await list('')), idsOf({ data: made, nextCursor: null }))
  const first = await list('?limit=2')
  t.ok(first.nextCursor !== null)
  t.strictSame(idsOf(await list(`?limit=2&cursor=${first.nextCursor}`)), [made[2]?.id])
  t.strictSame(idsOf(await list('?userId=a')), [made[0]?.id, made[2]?.id])
  t.notOk(JSON.stringify(await list('')).includes('ash"'), 'no hash')
  t.ok(idsOf(await list('')).every(isUuid))
})

t.test('a workspace has at most 10,000 live sessions', async (t) => {
  const workspace = await api.makeWorkspace()
  const plant = (count: number) =>
    api.app.database.run(
      `plant_sessions_${count}`,
      `INSERT INTO embed_sessions (id, workspace_id, user_id, role, pages, publish, created_by, link_hash, expires_at)
       SELECT gen_random_uuid(), $1::uuid, '42', 'viewer', '{rules}', false, 'user:x', '\\x00', now() + interval '1 hour'
       FROM generate_series(1, ${count})`,
      [workspace.id],
    )
  await plant(9_999)
  const one = await makeSession(workspace)
  const body = { user: { id: '42' }, role: 'viewer', pages: ['rules'] }
  t.match(await workspace.call('POST', sessions, { body }), {
    status: 409,
    headers: { 'x-error-code': 'limit_reached' },
  })
  await workspace.call('DELETE', `${sessions}/${one.id}`)
  t.equal((await workspace.call('POST', sessions, { body })).status, 201, 'one that has ended makes room')
})

t.test(
  'all sessions of one user draw from one bucket, and a stranger from that of the address',
  async (t) => {
    // One token a minute: no test lasts long enough to get one back.
    const small = await startApi(t, { RATE_LIMIT_AUTHENTICATED: '1/6' })
    const workspace = await small.makeWorkspace()
    const { key } = await makeKey(workspace, ['embed', 'rules:write'])
    const [first, second] = [
      await openSession(small, workspace, {}, { token: key }),
      await openSession(small, workspace, {}, { token: key }),
    ]
    const other = await openSession(small, workspace, { user: { id: 'bo' } }, { token: key })
    for (let count = 0; count < 3; count++)
      for (const { call } of [first, second]) t.equal((await call('GET', rules)).status, 200)
    for (const { call } of [first, second]) t.equal((await call('GET', rules)).status, 429)
    t.equal((await other.call('GET', rules)).status, 200, 'another user has a bucket of their own')

    const strict = await startApi(t, { RATE_LIMIT_ANONYMOUS: '1/3' })
    const guess = () =>
      strict.call('POST', `${sessions}/${newId()}/open`, {
        body: { secret: 'x' },
        remoteAddress: '203.0.113.9',
      })
    for (let count = 0; count < 3; count++) t.equal((await guess()).status, 404)
    t.equal((await guess()).status, 429)
  },
)
