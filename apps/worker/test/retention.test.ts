import { firstIdOf, newId, openDatabase } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import { removeOldWebhooks } from '../src/retention.js'

const dayMs = 24 * 60 * 60 * 1_000
const now = Date.parse('2026-06-01T12:00:00.000Z')
// It looks after the webhooks of all workspaces, so the database must be its own.
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

  t.equal(await removeOldWebhooks(database, now), 2_502)
  const left = await database.system.webhookReceipt.findMany({
    orderBy: { id: 'asc' },
    select: { key: true },
  })
  t.strictSame(
    left.map(({ key }) => key),
    ['2500', '2501', '2502'],
  )
  t.equal(await database.system.webhookRejection.count(), 2)
  t.equal(await removeOldWebhooks(database, now), 0, 'and nothing is left to do')
})
