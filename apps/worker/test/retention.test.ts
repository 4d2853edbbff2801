import { firstIdOf, newId, openDatabase } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import { removeOld } from '../src/retention.js'

const hourMs = 60 * 60 * 1_000
const dayMs = 24 * hourMs
const now = Date.parse('2026-06-01T12:00:00.000Z')
// It looks after the rows of all workspaces, so the database must be its own.
const database = openDatabase(await createPrivateDatabase(process.env.DATABASE_URL ?? ''), 2)
t.teardown(() => database.close())

t.test('receipts go after 30 days, rejections after 7, however many there are', async (t) => {
  const workspaceId = newId()
  const aged = (days: number) => firstIdOf(now - days * dayMs).slice(0, 13) + newId().slice(13)
  const receipts = [...Array<number>(2_500).fill(30.01), 29.99, 1, 0].map((days, index) => ({
    id: aged(days),
    workspaceId,
    provider: 'p',
    key: `${index}`,
    bodyHash: Buffer.alloc(32),
    secretId: newId(),
  }))
  const rejections = [31, 7.01, 6.99, 0].map((days) => ({
    id: aged(days),
    workspaceId,
    provider: 'p',
    verified: false,
    reason: 'signature',
    findings: [],
  }))
  await database.system.webhookReceipt.createMany({ data: receipts })
  await database.system.webhookRejection.createMany({ data: rejections })

  t.equal(await removeOld(database, now), 2_502)
  const left = await database.system.webhookReceipt.findMany({
    orderBy: { id: 'asc' },
    select: { key: true },
  })
  t.strictSame(
    left.map(({ key }) => key),
    ['2500', '2501', '2502'],
  )
  t.equal(await database.system.webhookRejection.count(), 2)
  t.equal(await removeOld(database, now), 0, 'and nothing is left to do')
})

t.test('the key of a request goes after 24 hours, whatever it stands for', async (t) => {
  const [first, second] = [newId(), newId()]
  const key = (key: string, hours: number, rest: object = {}) => ({
    key,
    createdAt: new Date(now - hours * hourMs),
    requestHash: Buffer.alloc(32),
    ...rest,
  })
  await database.system.idempotencyKey.createMany({
    data: [
      { workspaceId: first, ...key('same', 24.01, { eventId: newId() }) },
      { workspaceId: second, ...key('same', 23.99, { eventId: newId() }) },
      { workspaceId: first, ...key('answered', 48, { answer: { status: 201 } }) },
      { workspaceId: first, ...key('new', 0) },
      ...Array.from({ length: 1_500 }, (_, index) => ({ workspaceId: second, ...key(`${index}`, 25) })),
    ],
  })

  t.equal(await removeOld(database, now), 1_502)
  const left = await database.system.idempotencyKey.findMany({
    orderBy: { key: 'asc' },
    select: { workspaceId: true, key: true },
  })
  t.strictSame(left, [
    { workspaceId: first, key: 'new' },
    { workspaceId: second, key: 'same' },
  ])
})
