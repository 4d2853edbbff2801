import { newId, openDatabase } from '@automation/database'
import t from 'tap'
import { findEndingEvents } from '../src/waits/find-ending-events.js'
import { nothingSeen } from '../src/waits/open-wait.js'

const database = openDatabase(process.env.DATABASE_URL ?? '', 2)
t.teardown(() => database.close())

const start = Date.parse('2026-06-01T12:00:00.000Z')
const minuteMs = 60_000

t.test('events end a wait from its event on and until its end, however late somebody looks', async (t) => {
  const [workspaceId, key] = [newId(), newId()]
  const { id } = await database.system.workspace.create({ data: { id: workspaceId, name: 'Test' } })
  const store = async (acceptedAt: number, eventKey = key) => {
    const event = {
      id: newId(),
      workspaceId: id,
      type: 'DEAL_WON',
      data: {},
      acceptedAt: new Date(acceptedAt),
    }
    await database.system.event.create({ data: event })
    await database.system.eventKey.create({
      data: { workspaceId, key: eventKey, eventId: event.id, acceptedAt: event.acceptedAt },
    })
    return event.id
  }
  const until = start + minuteMs
  await store(start - 1)
  const before = await store(start)
  const after = { acceptedAt: start, id: before }
  const expected = [await store(start), await store(start + 1), await store(until)]
  for (const acceptedAt of [until + 1, until + 365 * 24 * 60 * minuteMs]) await store(acceptedAt)
  await store(start + 1, newId())
  for (const seen of [nothingSeen, '0']) {
    const shown: string[] = []
    const wait = { key, eventType: 'DEAL_WON', seen, after, until }
    const looking = { workspaceId, ruleId: newId(), ruleVersion: 1, wait }
    await findEndingEvents(database, looking, async (event) => shown.push(event.id) > 0)
    t.strictSame(shown, expected)
  }
})
