import { clockSkewMs, idNear, newId, openPatiently } from '@automation/database'
import t from 'tap'
import { findOrigins } from '../src/unfinished/find-origins.js'

const database = openPatiently(process.env.DATABASE_URL ?? '', 2)
t.teardown(() => database.close())

t.test(
  'the events of a tree are counted where the clock of a worker was behind that of the API',
  async (t) => {
    const workspaceId = newId()
    const { system } = database
    await system.workspace.create({ data: { id: workspaceId, name: 'Test' } })
    const now = new Date()
    const dayMs = 24 * clockSkewMs
    const [recent, old] = [newId(), idNear(now, -300 * dayMs)].map(
      (id) => `${id.slice(0, 24)}${newId().slice(24)}`,
    )
    const emit = (rootId: string | undefined, id: string) =>
      system.event.create({
        data: { id, workspaceId, type: 'LEAD_CREATED', data: {}, rootId: rootId ?? null, depth: 1 },
      })
    const last = newId()
    for (const id of [idNear(now, -7 * dayMs), idNear(now, -clockSkewMs), last]) await emit(recent, id)
    await emit(old, newId())
    const asked = [
      { id: last, rootId: recent ?? null },
      { id: newId(), rootId: old ?? null },
      { id: newId(), rootId: null },
    ]
    const origins = await findOrigins(database, asked, 10)
    t.strictSame(
      origins.map(({ descendants }) => descendants),
      [3, 1, null],
      'a week, an hour, and one that was emitted 300 days later',
    )
    const [alone] = await findOrigins(database, asked.slice(0, 1), 10)
    t.equal(alone?.descendants, 3, 'also where no older tree is counted with it')
    const [limited] = await findOrigins(database, asked.slice(0, 1), 2)
    t.equal(limited?.descendants, 2)
  },
)
