import { setTimeout } from 'node:timers/promises'
import { newId, openPatiently } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import { auditLedger } from '@automation/ledger'
import t from 'tap'

// Its tables are locked.
const database = openPatiently(await createPrivateDatabase(process.env.DATABASE_URL ?? ''), 4)
t.teardown(() => database.close())

t.test('a reconciliation that waits for a leaf reads what was committed until it has it', async (t) => {
  const { system } = database
  const workspaceId = newId()
  await system.workspace.create({ data: { id: workspaceId, name: 'Test' } })
  for (const table of ['events', 'executions', 'tasks']) {
    const now = Date.now()
    const { audit } = await system.$transaction(async (transaction) => {
      await transaction.$executeRawUnsafe(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
      const asked = { workspaceId, from: now - 60_000, to: now + 60_000, keptSince: 0, budgetMs: 5_000 }
      const audit = auditLedger(database, asked)
      while ((await countWaiting(table)) === 0) await setTimeout(5)
      const event = { id: newId(), workspaceId, type: 'LEAD_CREATED', data: {} }
      await transaction.event.create({ data: event })
      return { audit }
    })
    const { events } = await audit
    t.equal(events.waiting, await system.event.count({ where: { workspaceId } }), table)
  }

  async function countWaiting(table: string): Promise<number> {
    const [found] = await system.$queryRawUnsafe<{ count: number }[]>(
      `SELECT count(*)::int AS count FROM pg_locks
       WHERE NOT granted AND mode = 'AccessShareLock' AND relation = $1::text::regclass`,
      table,
    )
    return found?.count ?? 0
  }
})
