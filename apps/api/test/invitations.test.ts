import t from 'tap'
import { mint, startApi, type Workspace } from './fixtures/api.js'

const api = await startApi(t)
const invitations = '/api/developer/v1/invitations'

interface Made {
  id: string
  token: string | null
  state: string
  [field: string]: unknown
}

async function invite({ call }: Workspace, role = 'editor', key = ''): Promise<Made & { token: string }> {
  const headers = key === '' ? {} : { 'idempotency-key': key }
  const { status, body } = await call<Made>('POST', invitations, { body: { role }, headers })
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body as Made & { token: string }
}

let count = 0
/** Somebody who is a member of nothing. */
async function makeStranger(userId = `stranger-${Date.now()}-${count++}`) {
  const token = await mint(userId)
  const ask = (body: object) =>
    api.call<Record<string, unknown>>('POST', `${invitations}/accept`, { token, body })
  return {
    userId,
    token,
    accept: (given: string) => ask({ token: given }),
    read: (given: string) => ask({ token: given, dryRun: true }),
    ask,
  }
}

const none = {
  status: 404,
  body: { error: 'The invitation is not valid: it was used or revoked, or has expired' },
}

t.test(
  'who signs in with an invitation sees what it is for, and becomes a member by accepting it',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const { id, token } = await invite(workspace)
    const ada = await makeStranger()
    const seen = { workspace: { id: workspace.id, name: 'Tests' }, role: 'editor' }
    t.strictSame((await ada.read(token)).body, { ...seen, currentRole: null, accepted: false })
    t.equal(
      await workspace.database.member.count({ where: { userId: ada.userId } }),
      0,
      'reading it grants nothing',
    )
    const joined = { ...seen, currentRole: 'editor', accepted: true }
    t.strictSame((await ada.accept(token)).body, joined)
    t.strictSame((await ada.accept(token)).body, joined, 'to accept it again changes nothing')
    t.strictSame((await ada.read(token)).body, joined)
    const bo = await makeStranger()
    t.match(await bo.accept(token), none, 'it works once')
    const rules = { token: ada.token, headers: { 'x-workspace-id': workspace.id } }
    t.equal((await api.call('GET', '/api/automation-rules', rules)).status, 200, 'at once')
    const entries = await workspace.database.auditEntry.findMany({ orderBy: { id: 'asc' } })
    const author = entries[0]?.actor
    t.match(
      entries.map(({ actor, action, subject, details }) => ({ actor, action, subject, details })),
      [
        { actor: author, action: 'invitation.created', subject: id, details: { role: 'editor' } },
        {
          actor: `user:${ada.userId}`,
          action: 'invitation.accepted',
          subject: id,
          details: { role: 'editor', invitedBy: author },
        },
        {
          actor: `user:${ada.userId}`,
          action: 'member.added',
          subject: ada.userId,
          details: { role: 'editor' },
        },
      ],
    )
    t.equal(entries.length, 3)
  },
)

t.test('an unknown, used, revoked, expired or orphaned invitation is one and the same answer', async (t) => {
  const workspace = await api.makeWorkspace()
  const { database } = workspace
  const ada = await makeStranger()
  const [used, revoked, expired, ofKey, open] = [
    await invite(workspace),
    await invite(workspace),
    await invite(workspace),
    await invite(workspace),
    await invite(workspace),
  ]
  t.equal((await (await makeStranger()).accept(used.token)).status, 200)
  t.equal((await workspace.call('DELETE', `${invitations}/${revoked.id}`)).status, 204)
  t.equal((await workspace.call('DELETE', `${invitations}/${revoked.id}`)).status, 204, 'again')
  t.equal((await workspace.call('DELETE', `${invitations}/${used.id}`)).status, 404)
  await database.invitation.update({ where: { id: expired.id }, data: { expiresAt: new Date() } })
  await database.invitation.update({ where: { id: ofKey.id }, data: { createdBy: `api_key:${open.id}` } })
  const other = await invite(await api.makeWorkspace())
  const [prefix, , secret] = open.token.split('_')
  for (const [what, token] of Object.entries({
    used: used.token,
    revoked: revoked.token,
    expired: expired.token,
    'of a key that is gone': ofKey.token,
    'of another secret': `${prefix}_${open.id}_${other.token.split('_').slice(2).join('_')}`,
    'of another id': `${prefix}_${used.id}_${secret}`,
    text: 'x',
    key: `ark_${open.id}_${secret}`,
  })) {
    const { status, body } = await ada.accept(token)
    t.strictSame({ status, body }, none, what)
    const read = await ada.read(token)
    t.strictSame({ status: read.status, body: read.body }, none, what)
  }
  t.equal(await database.member.count({ where: { userId: ada.userId } }), 0)
  t.match(await ada.ask({ token: 1 }), { status: 422 })
  t.match(await ada.ask({ token: '\u0000' }), { status: 422 })
  t.match(await ada.ask({}), { status: 422, body: { errors: [{ field: 'token', message: 'Required' }] } })
})

t.test('of many who accept at once one wins, and a member is never lowered', async (t) => {
  const workspace = await api.makeWorkspace()
  const { token } = await invite(workspace, 'operator')
  const all = await Promise.all(Array.from({ length: 8 }, () => makeStranger()))
  const answers = await Promise.all(all.map(({ accept }) => accept(token)))
  t.strictSame(answers.map(({ status }) => status).toSorted(), [200, ...Array(7).fill(404)])
  const userIds = all.map(({ userId }) => userId)
  t.equal(await workspace.database.member.count({ where: { userId: { in: userIds } } }), 1)

  const winner = all[answers.findIndex(({ status }) => status === 200)]
  const lower = await invite(workspace, 'viewer')
  t.match(await winner?.read(lower.token), { status: 200, body: { role: 'viewer', currentRole: 'operator' } })
  t.match(await winner?.accept(lower.token), {
    status: 409,
    body: { error: 'You are a member already, as operator' },
  })
  t.equal((await (await makeStranger()).accept(lower.token)).status, 200, 'it stays open for others')
  const higher = await invite(workspace, 'admin')
  t.match(await winner?.accept(higher.token), { status: 200, body: { currentRole: 'admin' } })
})

t.test('an admin who was removed, or has a lower role, leaves no way back in', async (t) => {
  const workspace = await api.makeWorkspace()
  const { token } = await invite(workspace, 'admin')
  const { createdBy } = await workspace.database.invitation.findFirstOrThrow()
  const userId = createdBy.slice('user:'.length)
  await workspace.database.member.updateMany({ where: { userId }, data: { role: 'editor' } })
  const stranger = await makeStranger()
  t.match(await stranger.accept(token), none)
  await workspace.database.member.updateMany({ where: { userId }, data: { role: 'admin' } })
  t.equal((await stranger.accept(token)).status, 200)
})

t.test('only admins invite, keys accept nothing, and no list or log has a token', async (t) => {
  const workspace = await api.makeWorkspace()
  const made = await invite(workspace, 'viewer', 'one')
  const repeated = await workspace.call<Made>('POST', invitations, {
    body: { role: 'viewer' },
    headers: { 'idempotency-key': 'one' },
  })
  t.match(repeated.body, { id: made.id, token: null, warnings: [{ field: 'token' }] })
  const { data } = (await workspace.call<{ data: Made[] }>('GET', invitations)).body
  t.match(data, [{ id: made.id, role: 'viewer', state: 'open', acceptedBy: null }])
  t.notOk(JSON.stringify(data).includes(made.token.slice(-20)))
  const [stored] = await workspace.database.$queryRawUnsafe<{ all: string }[]>(
    `SELECT (SELECT string_agg(invitations::text, '') FROM invitations) ||
            (SELECT string_agg(audit_entries::text, '') FROM audit_entries) ||
            coalesce((SELECT string_agg(idempotency_keys::text, '') FROM idempotency_keys), '') AS all`,
  )
  t.ok(stored?.all.includes(made.id))
  t.notOk(stored?.all.includes(made.token.split('_').slice(2).join('_')))
  const { key } = (
    await workspace.call<{ key: string }>('POST', '/api/developer/v1/api-keys', {
      body: { name: 'x', scopes: ['admin'] },
    })
  ).body
  t.match(await api.call('POST', `${invitations}/accept`, { token: key, body: { token: made.token } }), {
    status: 403,
  })
  t.equal((await api.call('POST', `${invitations}/accept`, { body: { token: made.token } })).status, 401)
  t.match(await workspace.call('POST', invitations, { body: { role: 'owner' } }), { status: 422 })
})

t.test('a workspace has at most 100 open invitations, and keeps 1,000 in all', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id: workspaceId, database } = workspace
  const { id } = await invite(workspace)
  const row = { workspaceId, role: 'viewer' as const, createdBy: 'user:x' }
  const store = (length: number, expiresAt: Date) =>
    database.invitation.createMany({
      data: Array.from({ length }, () => ({
        ...row,
        id: crypto.randomUUID(),
        hash: Buffer.alloc(32),
        expiresAt,
      })),
    })
  await store(99, new Date(Date.now() + 60_000))
  t.match(await workspace.call('POST', invitations, { body: { role: 'viewer' } }), {
    status: 409,
    body: { error: 'A workspace may have 100 open invitations' },
  })
  await workspace.call('DELETE', `${invitations}/${id}`)
  await store(1_000, new Date(0))
  await invite(workspace)
  t.equal(await database.invitation.count(), 1_000)
})

t.test('a list says when each member was last seen there, and nothing of other workspaces', async (t) => {
  const [workspace, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  const ada = await makeStranger()
  for (const one of [workspace, other])
    await one.call('PUT', `/api/developer/v1/members/${ada.userId}`, { body: { role: 'viewer' } })
  const seen = async () => {
    const { data } = (
      await workspace.call<{ data: { userId: string; lastSeenAt: string | null }[] }>(
        'GET',
        '/api/developer/v1/members',
      )
    ).body
    return data.find(({ userId }) => userId === ada.userId)?.lastSeenAt
  }
  t.equal(await seen(), null)
  const visit = (id: string) => api.call('GET', '/api/tasks', { token: ada.token, workspace: id })
  t.equal((await visit(other.id)).status, 200)
  while ((await other.database.member.count({ where: { userId: ada.userId, seenAt: { not: null } } })) === 0)
    await new Promise(setImmediate)
  t.equal(await seen(), null)
  t.equal((await visit(workspace.id)).status, 200)
  while ((await seen()) === null) await new Promise(setImmediate)
  const first = await seen()
  t.ok(Date.parse(first ?? '') > Date.now() - 60_000)
})

t.test(
  'who may invite no longer leaves no open link, and who was removed reads nothing by theirs',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const members = '/api/developer/v1/members'
    const eve = await makeStranger()
    await workspace.call('PUT', `${members}/${eve.userId}`, { body: { role: 'admin' } })
    const asEve = {
      ...workspace,
      call: ((method, path, question) =>
        api.call(method, path, {
          token: eve.token,
          workspace: workspace.id,
          ...question,
        })) as Workspace['call'],
    }
    const [first, second] = [await invite(asEve), await invite(asEve)]
    const bo = await makeStranger()
    t.equal((await bo.accept(first.token)).status, 200)
    await workspace.call('DELETE', `${members}/${bo.userId}`)
    t.match(await bo.read(first.token), none, 'removed')
    t.match(await bo.accept(first.token), none)
    await workspace.call('DELETE', `${members}/${eve.userId}`)
    await workspace.call('PUT', `${members}/${eve.userId}`, { body: { role: 'admin' } })
    t.match(await bo.accept(second.token), none, 'eve is an admin again')
  },
)
