import { createWorkspace } from '@automation/access'
import { newId } from '@automation/database'
import t from 'tap'
import { type Answer, mint, ruleBody, rules, startApi, type Workspace } from './fixtures/api.js'

const workspaces = '/api/developer/v1/workspaces'
const members = '/api/developer/v1/members'
const limits = { workspacesPerCreator: 3 }
const apis = [await startApi(t, {}, limits), await startApi(t, {}, limits)] as const
const [api] = apis
const refused = { status: 409, body: { error: 'A user may create 3 workspaces' } }
const name = 'Another'

const countCreated = ({ database, users }: Workspace) =>
  database.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM workspaces WHERE created_by = ${`user:${users.admin}`}`

t.test('of creates at the same time over two APIs, exactly as many succeed as are allowed', async (t) => {
  for (let round = 0; round < 3; round++) {
    const { id, tokens, ...workspace } = await apis[0].makeWorkspace()
    const answers = await Promise.all(
      [...apis, ...apis, ...apis].map((api) =>
        api.call('POST', workspaces, { token: tokens.admin, workspace: id, body: { name } }),
      ),
    )
    t.strictSame(answers.map(({ status }) => status).sort(), [201, 201, 201, 409, 409, 409])
    for (const { status, body } of answers) if (status === 409) t.strictSame(body, refused.body)
    t.strictSame(await countCreated({ id, tokens, ...workspace }), [{ count: 3 }])
  }
})

t.test('a workspace that was handed to another admin counts for its creator', async (t) => {
  const workspace = await api.makeWorkspace()
  const post = (body: object) => workspace.call<{ id: string }>('POST', workspaces, { body })
  const grace = `grace-${newId()}`
  for (let n = 0; n < 2; n++) t.equal((await post({ name, adminUserId: grace })).status, 201)
  const { body: own } = await post({ name })
  const put = await workspace.call('PUT', `${members}/${grace}`, {
    workspace: own.id,
    body: { role: 'admin' },
  })
  t.equal(put.status, 201)
  const asGrace = { token: await mint(grace), workspace: own.id }
  t.equal((await api.call('DELETE', `${members}/${workspace.users.admin}`, asGrace)).status, 204)
  t.match(await post({ name }), refused)
  t.equal(
    (await api.call('POST', workspaces, { ...asGrace, body: { name } })).status,
    201,
    'grace has created none',
  )
})

t.test('the workspaces that a key creates count for the creator of its workspace', async (t) => {
  const workspace = await api.makeWorkspace()
  const makeKey = async (inWorkspace: string) => {
    const body = { name: 'A key', scopes: ['admin'] }
    const made = await workspace.call<{ key: string }>('POST', '/api/developer/v1/api-keys', {
      workspace: inWorkspace,
      body,
    })
    return made.body.key
  }
  const post = (token: string): Promise<Answer<{ id: string }>> =>
    api.call('POST', workspaces, { token, body: { name, adminUserId: workspace.users.admin } })

  const { body: created } = await workspace.call<{ id: string }>('POST', workspaces, { body: { name } })
  const key = await makeKey(created.id)
  const first = await post(key)
  t.strictSame([first.status, (await post(key)).status], [201, 201])
  t.match(await post(key), refused)
  t.match(await post(await makeKey(first.body.id)), refused, 'nor does a key of what a key created')
  t.match(await workspace.call('POST', workspaces, { body: { name } }), refused)

  const withoutCreator = await makeKey(workspace.id)
  for (let n = 0; n < 3; n++) t.equal((await post(withoutCreator)).status, 201)
  t.match(await post(withoutCreator), refused, 'a workspace without a creator counts by itself')
})

t.test('workspaces of the command line are not limited, and count for nobody', async (t) => {
  const workspace = await api.makeWorkspace()
  const administrator = { database: api.app.database, actor: 'cli:operator' }
  for (let n = 0; n < 5; n++)
    await createWorkspace(administrator, { name, adminUserId: workspace.users.admin })
  t.equal((await workspace.call('POST', workspaces, { body: { name } })).status, 201)
})

t.test('a workspace has at most 1,000 members', async (t) => {
  const workspace = await api.makeWorkspace()
  const put = (userId: string, role = 'viewer') =>
    workspace.call('PUT', `${members}/${userId}`, { body: { role } })
  const rows = Array.from({ length: 995 }, (_, n) => ({ workspaceId: workspace.id, userId: `member-${n}` }))
  await workspace.database.member.createMany({
    data: rows.map((row) => ({ ...row, role: 'viewer' as const })),
  })
  t.equal((await put('last')).status, 201)
  t.match(await put('beyond'), { status: 409, body: { error: 'A workspace may have 1000 members' } })
  t.equal((await put('last', 'editor')).status, 200, 'roles can be changed')
  const list = () => workspace.call<{ data: object[] }>('GET', members)
  t.equal((await list()).body.data.length, 1_000)
  await workspace.database.member.create({
    data: { workspaceId: workspace.id, userId: 'old', role: 'viewer' },
  })
  t.equal((await list()).body.data.length, 1_000, 'nor does the list show more')
  t.equal((await workspace.call('DELETE', `${members}/last`)).status, 204)
  t.equal((await workspace.call('DELETE', `${members}/old`)).status, 204)
  t.equal((await put('beyond')).status, 201)
})

t.test('a user’s list of workspaces shows the oldest 1,000', async (t) => {
  const workspace = await api.makeWorkspace()
  const ids = Array.from({ length: 1_001 }, () => newId())
  await api.app.database.system.workspace.createMany({ data: ids.map((id) => ({ id, name })) })
  await api.app.database.system.member.createMany({
    data: ids.map((workspaceId) => ({ workspaceId, userId: workspace.users.admin, role: 'viewer' as const })),
  })
  const { body } = await workspace.call<{ data: { id: string }[] }>('GET', workspaces)
  t.strictSame(
    body.data.map(({ id }) => id),
    [workspace.id, ...ids.slice(0, 999)],
  )
})

t.test('a list of keys or secrets shows all that are in use, and 1,000 in all', async (t) => {
  const { id: workspaceId, database, call } = await api.makeWorkspace()
  const ids = Array.from({ length: 1_200 }, () => newId())
  // The oldest is in use, the others were revoked.
  const revokedAtOf = (index: number) => (index === 0 ? null : new Date())
  const bytes = Buffer.alloc(32)
  await database.apiKey.createMany({
    data: ids.map((id, index) => {
      return { id, workspaceId, name, scopes: ['rules:read'], hash: bytes, revokedAt: revokedAtOf(index) }
    }),
  })
  await database.signingSecret.createMany({
    data: ids.map((id, index) => {
      return { id, workspaceId, provider: 'p', sealed: bytes, revokedAt: revokedAtOf(index) }
    }),
  })
  for (const path of ['api-keys', 'signing-secrets']) {
    const { body } = await call<{ data: { id: string; state: string }[] }>('GET', `/api/developer/v1/${path}`)
    t.equal(body.data.length, 1_000, path)
    t.strictSame(
      body.data.map(({ id }) => id),
      [...ids.slice(-999).reverse(), ids[0]],
      `${path}, the newest first`,
    )
    t.equal(body.data.at(-1)?.state, 'active')
  }
})

t.test(
  'with the changes of a day used up, an update still switches a rule off, and does nothing else',
  async (t) => {
    const { id: workspaceId, database, call } = await api.makeWorkspace()
    const { body: rule } = await call<{ id: string }>('POST', rules, { body: ruleBody() })
    const entry = { workspaceId, actor: 'user:flood', action: 'rule.updated', subject: rule.id, details: {} }
    for (let part = 0; part < 4; part++)
      await database.auditEntry.createMany({
        data: Array.from({ length: 5_000 }, () => ({ ...entry, id: newId() })),
      })
    const put = (body: object) => call('PUT', `${rules}/${rule.id}`, { body })
    t.match(await put({ name: 'Other', isActive: false }), { status: 409, body: { error: /20000 changes/ } })
    t.match(await put({ isActive: false }), { status: 200, body: { isActive: false } })
    t.equal((await put({ isActive: true })).status, 409)
  },
)
