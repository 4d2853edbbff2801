import { randomBytes } from 'node:crypto'
import { createSealer, sealingContext } from '@automation/access'
import { newId, openPatiently } from '@automation/database'
import t from 'tap'
import { createOutgoingKeys } from '../src/effects/outgoing-keys.js'

const database = openPatiently(process.env.DATABASE_URL ?? '', 5)
t.teardown(() => database.close())

const encryptionKey = randomBytes(32).toString('base64')

async function createWorkspace() {
  const workspaceId = newId()
  await database.system.workspace.create({ data: { id: workspaceId, name: 'Test' } })
  return {
    workspaceId,
    async createSecret(
      provider: string,
      more: { direction?: 'incoming' | 'outgoing'; retiresAt?: Date; revokedAt?: Date } = {},
      sealedWith = encryptionKey,
    ) {
      const id = newId()
      const key = randomBytes(32)
      const sealed = createSealer(sealedWith).seal(key, sealingContext({ id, workspaceId }))
      const data = { id, workspaceId, provider, sealed, direction: 'outgoing' as const, ...more }
      await database.system.signingSecret.create({ data })
      return { id, key }
    },
  }
}

t.test('a call is signed with the active secrets of its counterparty, newest first', async (t) => {
  const { workspaceId, createSecret } = await createWorkspace()
  const other = await createWorkspace()
  const [first, second] = [await createSecret('hooks.example'), await createSecret('hooks.example')]
  const retiring = await createSecret('hooks.example', { retiresAt: new Date(Date.now() + 60_000) })
  await createSecret('hooks.example', { retiresAt: new Date(Date.now() - 1_000) })
  await createSecret('hooks.example', { revokedAt: new Date() })
  await createSecret('hooks.example', { direction: 'incoming' })
  await createSecret('other.example')
  await other.createSecret('hooks.example')
  const findKeys = createOutgoingKeys(database, encryptionKey)
  t.same(await findKeys({ workspaceId, counterparty: 'hooks.example' }), {
    keys: [retiring.key, second.key, first.key],
  })
  t.same(await findKeys({ workspaceId, counterparty: 'nobody.example' }), { keys: [] })
  t.same(await findKeys({ workspaceId: newId(), counterparty: 'hooks.example' }), { keys: [] })
})

t.test('concurrent look-ups share a statement, and each gets its own keys', async (t) => {
  const workspaces = await Promise.all(Array.from({ length: 20 }, createWorkspace))
  const made = await Promise.all(workspaces.map(({ createSecret }) => createSecret('hooks.example')))
  let statements = 0
  const counting = Object.assign(Object.create(database), {
    run: (...query: Parameters<typeof database.run>) => {
      statements += 1
      return database.run(...query)
    },
  })
  const findKeys = createOutgoingKeys(counting, encryptionKey)
  const recipients = workspaces.map(({ workspaceId }) => ({ workspaceId, counterparty: 'hooks.example' }))
  const found = await Promise.all([...recipients, ...recipients].map(findKeys))
  t.same(
    found,
    [...made, ...made].map(({ key }) => ({ keys: [key] })),
  )
  await Promise.all(recipients.map(findKeys))
  t.equal(statements, 1, 'and no other within a second')
})

t.test('a secret that does not open is an error with its id, even if another one opens', async (t) => {
  const { workspaceId, createSecret } = await createWorkspace()
  await createSecret('hooks.example')
  const { id } = await createSecret('hooks.example', {}, randomBytes(32).toString('base64'))
  t.same(await createOutgoingKeys(database, encryptionKey)({ workspaceId, counterparty: 'hooks.example' }), {
    fault: `The signing secret ${id} cannot be decrypted with this ENCRYPTION_KEY`,
  })
})

t.test('each key of ENCRYPTION_KEY opens secrets, also for one call', async (t) => {
  const { workspaceId, createSecret } = await createWorkspace()
  const nextKey = randomBytes(32).toString('base64')
  const first = await createSecret('hooks.example')
  const second = await createSecret('hooks.example', {}, `${nextKey},${encryptionKey}`)
  for (const keys of [`${encryptionKey},${nextKey}`, `${nextKey}, ${encryptionKey}`])
    t.same(await createOutgoingKeys(database, keys)({ workspaceId, counterparty: 'hooks.example' }), {
      keys: [second.key, first.key],
    })
  t.same(await createOutgoingKeys(database, nextKey)({ workspaceId, counterparty: 'hooks.example' }), {
    fault: `The signing secret ${first.id} cannot be decrypted with this ENCRYPTION_KEY`,
  })
})

t.test('a secret that was copied to another workspace does not open there', async (t) => {
  const { workspaceId, createSecret } = await createWorkspace()
  const { id } = await createSecret('hooks.example')
  const { workspaceId: thief } = await createWorkspace()
  await database.system.signingSecret.update({ where: { id }, data: { workspaceId: thief } })
  const findKeys = createOutgoingKeys(database, encryptionKey)
  t.match(await findKeys({ workspaceId: thief, counterparty: 'hooks.example' }), {
    fault: /cannot be decrypted/,
  })
  t.same(await findKeys({ workspaceId, counterparty: 'hooks.example' }), { keys: [] })
})

t.test('a failed look-up is repeated', async (t) => {
  const { workspaceId, createSecret } = await createWorkspace()
  const { key } = await createSecret('hooks.example')
  let isAway = true
  const shaky = Object.assign(Object.create(database), {
    run: (...query: Parameters<typeof database.run>) =>
      isAway ? Promise.reject(new Error('Postgres is away')) : database.run(...query),
  })
  const findKeys = createOutgoingKeys(shaky, encryptionKey)
  const recipient = { workspaceId, counterparty: 'hooks.example' }
  await t.rejects(findKeys(recipient), { message: 'Postgres is away' })
  isAway = false
  t.same(await findKeys(recipient), { keys: [key] })
})
