import { randomBytes } from 'node:crypto'
import {
  type Administrator,
  createSealer,
  hashApiKey,
  listApiKeys,
  listMembers,
  listSigningSecrets,
  putMember,
  readApiKeyId,
  retireSigningSecret,
  revokeApiKey,
  sealingContext,
  updateWorkspace,
} from '@automation/access'
import { newId, openPatiently } from '@automation/database'
import t, { type Test } from 'tap'
import { type DemoCredentials, seedDatabase } from '../../src/demo/demo-database.js'
import { createPrivateDatabase } from '../../src/product/private-database.js'

const databaseUrl = process.env.DATABASE_URL ?? ''
const encryptionKey = randomBytes(32).toString('base64')

/** Creates a private demo, with access to its database. */
function makeDemo(t: Test) {
  const database = openPatiently(databaseUrl, 1)
  t.teardown(() => database.close())
  const ids = { workspaceId: newId(), otherWorkspaceId: newId() }
  const administrator: Administrator = { database, workspaceId: ids.workspaceId, actor: 'cli:test' }
  return {
    ids,
    administrator,
    workspace: database.forWorkspace(ids.workspaceId),
    seed: (known: Partial<DemoCredentials> = {}, key = encryptionKey) =>
      seedDatabase({ databaseUrl, encryptionKey: key }, { ...ids, ...known }),
  }
}

async function rolesIn(workspace: Parameters<typeof listMembers>[0]): Promise<Record<string, string>> {
  const members = await listMembers(workspace)
  return Object.fromEntries(members.map(({ userId, role }) => [userId, role]))
}

t.test('the demo has two workspaces, their members, a key and a secret, all in the audit log', async (t) => {
  const { ids, workspace, administrator, seed } = makeDemo(t)
  const { apiKey, webhook } = await seed()
  t.strictSame(await rolesIn(workspace), { 'demo-admin': 'admin', 'demo-viewer': 'viewer' })
  t.strictSame(await rolesIn(administrator.database.forWorkspace(ids.otherWorkspaceId)), {
    'other-admin': 'admin',
  })
  const keys = await workspace.apiKey.findMany({ select: { id: true, hash: true, scopes: true } })
  t.strictSame(keys, [
    {
      id: readApiKeyId(apiKey),
      hash: new Uint8Array(hashApiKey(apiKey)),
      scopes: ['receipts:read', 'rules:write'],
    },
  ])
  const [row, ...others] = await workspace.signingSecret.findMany()
  t.match(row, { id: webhook.secretId, provider: 'developer-fixture' })
  t.same(others, [])
  if (!row) return
  const key = createSealer(encryptionKey).open(row.sealed, sealingContext(row))
  t.equal(`whsec_${key.toString('base64')}`, webhook.secret)
  const entries = await workspace.auditEntry.findMany({ orderBy: { id: 'asc' } })
  t.same(
    entries.map(({ actor, action }) => [actor, action]),
    ['workspace.created', 'member.added', 'api_key.created', 'signing_secret.created'].map((action) => [
      'cli:npm start',
      action,
    ]),
  )
})

t.test('a second run creates nothing, and changes by users stay', async (t) => {
  const { workspace, administrator, seed } = makeDemo(t)
  const first = await seed()
  await putMember(administrator, { userId: 'demo-viewer', role: 'operator' })
  await updateWorkspace(administrator, { name: 'Mine', plan: 'standard' })
  const entries = await workspace.auditEntry.count()
  t.same(await seed(first), first)
  t.equal(await workspace.auditEntry.count(), entries)
  t.match(await workspace.workspace.findFirst(), { name: 'Mine', plan: 'standard' })
  t.strictSame(await rolesIn(workspace), { 'demo-admin': 'admin', 'demo-viewer': 'operator' })
})

t.test('a key or secret that is no longer usable is replaced', async (t) => {
  const { workspace, administrator, seed } = makeDemo(t)
  const first = await seed()
  await revokeApiKey(administrator, readApiKeyId(first.apiKey) ?? '')
  await retireSigningSecret(administrator, first.webhook.secretId, 60_000)
  const second = await seed(first)
  t.not(second.apiKey, first.apiKey)
  t.not(second.webhook.secret, first.webhook.secret)

  const third = await seed({ ...second, apiKey: `${second.apiKey.slice(0, -4)}AAAA` })
  t.not(third.apiKey, second.apiKey, 'a text that only looks like the key')
  t.same(third.webhook, second.webhook)

  const otherKey = randomBytes(32).toString('base64')
  const fourth = await seed(third, otherKey)
  t.equal(fourth.apiKey, third.apiKey)
  t.not(fourth.webhook.secretId, third.webhook.secretId, 'sealed with another key')
  const fifth = await seed(fourth, `${encryptionKey},${otherKey}`)
  t.equal(fifth.webhook.secretId, fourth.webhook.secretId, 'sealed with one of the keys')
  t.equal((await listApiKeys(workspace)).length, 3)
  t.equal((await listSigningSecrets(workspace)).length, 3)
})

t.test('in another database everything is created again, under the same ids', async (t) => {
  const { ids, seed } = makeDemo(t)
  const here = await seed()
  const url = await createPrivateDatabase(databaseUrl)
  const there = await seedDatabase({ databaseUrl: url, encryptionKey }, { ...ids, ...here })
  t.not(there.apiKey, here.apiKey)
  t.not(there.webhook.secretId, here.webhook.secretId)
  t.same(await seed(here), here, 'and here all is as it was')
})
