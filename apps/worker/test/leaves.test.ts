import { setTimeout } from 'node:timers/promises'
import { newId, openDatabase } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import { countHighRows } from '@automation/ledger'
import pino from 'pino'
import t from 'tap'
import { startLeaves } from '../src/retention/leaves.js'

t.test('a worker makes leaves at its start, and rows without one are counted', async (t) => {
  const url = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
  const database = openDatabase(url, 2)
  t.teardown(() => database.close())
  const store = () =>
    database.system.event.create({
      data: { id: newId(), workspaceId: newId(), type: 'LEAD_CREATED', data: {} },
    })
  await store()
  t.equal(await countHighRows(database), 1)
  const leaves = startLeaves(url, 30, pino({ level: 'silent' }))
  while ((await countHighRows(database)) > 0) await setTimeout(10)
  await leaves.stop()
  await store()
  t.equal(await countHighRows(database), 0)
  t.equal(await database.system.event.count(), 2)
})
