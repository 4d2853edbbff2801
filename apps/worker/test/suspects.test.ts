import t from 'tap'
import { createSuspects } from '../src/suspects.js'
import { openHouse } from './fixtures/house.js'

t.test('a run that fails while its worker lives brings a suspect no nearer to its quarantine', async (t) => {
  const { database, own, newEvent } = await openHouse(t)
  const event = newEvent()
  await own.event.create({ data: { ...event, crashes: 1 } })
  const runAlone = createSuspects(database)
  let runs = 0
  const fail = async () => {
    runs += 1
    throw new Error('Postgres went away')
  }
  for (const _ of Array(5)) await t.rejects(runAlone(event.id, fail), { message: 'Postgres went away' })
  t.equal(runs, 5)
  t.match(await own.event.findUnique({ where: { id: event.id } }), { crashes: 1, quarantined: false })
})

t.test('a run that never ends, since its worker does, is counted before it begins', async (t) => {
  const { database, own, newEvent } = await openHouse(t)
  const event = newEvent()
  await own.event.create({ data: { ...event, crashes: 1 } })
  await new Promise<void>((begun) => {
    void createSuspects(database)(event.id, () => {
      begun()
      return new Promise(() => {})
    })
  })
  t.match(await own.event.findUnique({ where: { id: event.id } }), { crashes: 2, quarantined: false })
})
