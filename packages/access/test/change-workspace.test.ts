import { randomBytes } from 'node:crypto'
import { type Database, firstIdOf, newId, openPatiently } from '@automation/database'
import t from 'tap'
import { createApiKey, revokeApiKey } from '../src/api-keys.js'
import { changeWorkspace } from '../src/change-workspace.js'
import { putMember, removeMember } from '../src/members.js'
import { Refused } from '../src/refused.js'
import { createSealer } from '../src/sealing.js'
import { createSubscription, updateSubscription } from '../src/subscriptions.js'
import { createWorkspace, findWorkspace, listWorkspaces, updateWorkspace } from '../src/workspaces.js'
import { matchRows } from './fixtures/match-rows.js'

const databases = [open(), open()] as const
const [database, second] = databases
const actor = 'cli:tests'

function open(): Database {
  return openPatiently(process.env.DATABASE_URL ?? '', 3)
}
t.teardown(() => Promise.all(databases.map((one) => one.close())))

async function makeAdministrator() {
  const { id } = await createWorkspace({ database, actor }, { name: 'Tests', adminUserId: 'ada' })
  return { database, actor, workspaceId: id }
}
const readLog = (workspaceId: string) =>
  database.forWorkspace(workspaceId).auditEntry.findMany({ orderBy: { id: 'asc' } })

t.test('a new workspace has its admin and an entry in its audit log', async (t) => {
  const { workspaceId } = await makeAdministrator()
  matchRows(t, await database.forWorkspace(workspaceId).member.findMany(), [{ userId: 'ada', role: 'admin' }])
  matchRows(t, await readLog(workspaceId), [
    {
      actor,
      action: 'workspace.created',
      subject: workspaceId,
      details: { name: 'Tests', plan: 'standard', adminUserId: 'ada' },
    },
  ])
})

t.test('a change and its entry are committed together or not at all', async (t) => {
  const administrator = await makeAdministrator()
  const { workspaceId } = administrator
  const failing = changeWorkspace(administrator, async (transaction) => {
    await transaction.member.create({ data: { workspaceId, userId: 'grace', role: 'admin' } })
    throw new Error('after the change')
  })
  await t.rejects(failing, { message: 'after the change' })
  const unwritable = changeWorkspace(administrator, async (transaction) => {
    await transaction.member.create({ data: { workspaceId, userId: 'grace', role: 'admin' } })
    return { result: undefined, entry: { action: 'member.added', subject: 'no\0text' } }
  })
  await t.rejects(unwritable)
  t.equal(await database.forWorkspace(workspaceId).member.count(), 1)
  t.equal((await readLog(workspaceId)).length, 1)
})

t.test('a change of a workspace that does not exist is refused and writes nothing', async (t) => {
  const administrator = { database, actor, workspaceId: newId() }
  const refused = { code: 'workspace_not_found', message: 'Workspace not found' }
  await t.rejects(createApiKey(administrator, { name: 'x', scopes: ['admin'] }), refused)
  await t.rejects(putMember(administrator, { userId: 'x', role: 'viewer' }), refused)
  await t.rejects(updateWorkspace(administrator, {}), refused)
  await t.rejects(
    findWorkspace(database.forWorkspace(administrator.workspaceId), administrator.workspaceId),
    refused,
  )
  t.strictSame(await readLog(administrator.workspaceId), [])
})

t.test('faulty values are refused, not thrown at the caller', async (t) => {
  const administrator = await makeAdministrator()
  const expired = createApiKey(administrator, { name: 'x', scopes: ['admin'], expiresAt: '2000-01-01' })
  await t.rejects(expired, { message: /in the future/, code: 'validation_failed', field: 'expiresAt' })
  await t.rejects(revokeApiKey(administrator, 'no id'), {
    message: 'API key not found',
    code: 'api_key_not_found',
  })
  const refused = { message: /1 to 255 characters/, code: 'validation_failed' }
  for (const userId of ['', 'x'.repeat(256), 'a\0', '\ud800']) {
    await t.rejects(putMember(administrator, { userId, role: 'admin' }), { ...refused, field: 'userId' })
    await t.rejects(removeMember(administrator, userId), { ...refused, field: 'userId' })
    const unmade = createWorkspace({ database, actor }, { name: 'x', adminUserId: userId })
    await t.rejects(unmade, { ...refused, field: 'adminUserId' })
  }
})

t.test('a check reads the state of the workspace at the moment of the change', async (t) => {
  const administrator = await makeAdministrator()
  const seen: string[] = []
  const rename = (one: Database, name: string) =>
    updateWorkspace({ ...administrator, database: one }, { name }, (before) => void seen.push(before.name))
  await Promise.all(
    Array.from({ length: 8 }, (_, index) => rename(index % 2 ? database : second, `Name ${index}`)),
  )
  const log = await readLog(administrator.workspaceId)
  const names = log.map(({ details }) => (details as { name: string }).name)
  t.strictSame(seen, names.slice(0, -1), 'each sees what the one before it left')
  const refusing = updateWorkspace(administrator, { name: 'x' }, () => {
    throw new Refused('limit_reached', 'Not now')
  })
  await t.rejects(refusing, { code: 'limit_reached', message: 'Not now' })
  const { name } = await findWorkspace(
    database.forWorkspace(administrator.workspaceId),
    administrator.workspaceId,
  )
  t.equal(name, names.at(-1))
})

t.test('of two admins who remove each other over separate connections, one remains', async (t) => {
  for (let round = 0; round < 10; round++) {
    const administrator = await makeAdministrator()
    const other = { ...administrator, database: second }
    await putMember(administrator, { userId: 'grace', role: 'admin' })
    const attempts = await Promise.allSettled([
      removeMember(administrator, 'grace'),
      putMember(other, { userId: 'ada', role: 'viewer' }),
    ])
    t.strictSame(attempts.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    t.match(
      attempts.find(({ status }) => status === 'rejected'),
      { reason: { code: 'last_admin' } },
    )
  }
})

t.test('a user’s workspaces are those of which it is a member', async (t) => {
  const userId = `user-${newId()}`
  const [first, other] = [await makeAdministrator(), await makeAdministrator()]
  await putMember(first, { userId, role: 'viewer' })
  matchRows(t, await listWorkspaces(database, userId), [{ id: first.workspaceId }])
  const all = (await listWorkspaces(database)).map(({ id }) => id)
  t.ok([first, other].every(({ workspaceId }) => all.includes(workspaceId)))
})

t.test(
  'a workspace with 20,000 changes in 24 hours may only take away, and its log keeps every entry',
  async (t) => {
    const administrator = await makeAdministrator()
    const { workspaceId } = administrator
    const sealer = createSealer(randomBytes(32).toString('base64'))
    const { id } = await createSubscription(administrator, sealer, {
      url: 'https://example.com/',
      eventTypes: ['rule.updated'],
    })
    await putMember(administrator, { userId: 'flood', role: 'editor' })
    const entriesOf = (count: number, hoursAgo: number) =>
      Array.from({ length: count }, () => ({
        id: firstIdOf(Date.now() - hoursAgo * 3_600_000).slice(0, 13) + newId().slice(13),
        workspaceId,
        actor: 'user:flood',
        action: 'rule.updated',
        subject: 'rule',
        details: {},
      }))
    const own = database.forWorkspace(workspaceId)
    await own.auditEntry.createMany({ data: entriesOf(5_000, 24.1) })
    for (let part = 0; part < 4; part++)
      await own.auditEntry.createMany({ data: entriesOf(part < 3 ? 5_000 : 4_996, 1 + part) })

    await updateWorkspace(administrator, { name: 'The last change' })
    const refused = { code: 'limit_reached', message: /20000 changes in 24 hours/ }
    await t.rejects(updateWorkspace(administrator, { name: 'One too many' }), refused)
    t.equal((await findWorkspace(own, workspaceId)).name, 'The last change')
    await removeMember(administrator, 'flood')
    const url = 'https://example.org/'
    await t.rejects(updateSubscription(administrator, id, { isActive: false, url }), refused)
    t.match(await updateSubscription(administrator, id, { isActive: false }), { isActive: false })
    await t.rejects(updateSubscription(administrator, id, { isActive: true }), refused)
    t.equal(await own.auditEntry.count(), 25_002, 'nothing is removed to make room')
  },
)

t.test('a workspace has 1,000 members, and 5,000 API keys with those that ended, at most', async (t) => {
  const administrator = await makeAdministrator()
  const { workspaceId } = administrator
  const own = database.forWorkspace(workspaceId)
  await own.member.createMany({
    data: Array.from({ length: 998 }, (_, index) => ({ workspaceId, userId: `${index}`, role: 'viewer' })),
  })
  await putMember(administrator, { userId: 'last', role: 'viewer' })
  const full = { code: 'limit_reached', message: 'A workspace may have 1000 members' }
  await t.rejects(putMember(administrator, { userId: 'one more', role: 'viewer' }), full)
  await putMember(administrator, { userId: 'last', role: 'admin' })

  await own.apiKey.createMany({
    data: Array.from({ length: 4_999 }, () => {
      return {
        id: newId(),
        workspaceId,
        name: 'Old',
        scopes: [],
        hash: new Uint8Array(32),
        revokedAt: new Date(),
      }
    }),
  })
  await createApiKey(administrator, { name: 'Key', scopes: ['rules:read'] })
  const another = createApiKey(administrator, { name: 'Key', scopes: ['rules:read'] })
  await t.rejects(another, { code: 'limit_reached', message: /5000 API keys, with those that were revoked/ })
})
