import t from 'tap'
import { createAdmission } from '../src/admission.js'
import { createIsolation } from '../src/running/run-isolated.js'
import { createHarness } from './fixtures/harness.js'

t.test('a failure without a crash does not count towards the quarantine of an event', async (t) => {
  const { database, own, newRow } = await createHarness(t)
  const event = newRow()
  await own.event.create({ data: { ...event, crashes: 1 } })
  const runIsolated = createIsolation(database, createAdmission(1).isolated)
  let runs = 0
  const fail = async () => {
    runs += 1
    throw new Error('Postgres went away')
  }
  for (const _ of Array(5)) await t.rejects(runIsolated(event, fail), { message: 'Postgres went away' })
  t.equal(runs, 5)
  t.match(await own.event.findUnique({ where: { id: event.id } }), { crashes: 1, quarantined: false })
})

t.test('a crash is counted before the event runs', async (t) => {
  const { database, own, newRow } = await createHarness(t)
  const event = newRow()
  await own.event.create({ data: { ...event, crashes: 1 } })
  await new Promise<void>((begun) => {
    void createIsolation(database, createAdmission(1).isolated)(event, () => {
      begun()
      return new Promise(() => {})
    })
  })
  t.match(await own.event.findUnique({ where: { id: event.id } }), { crashes: 2, quarantined: false })
})

t.test('the fifth crash quarantines an event: it is done, published once, and not run', async (t) => {
  const { database, own, newRow } = await createHarness(t)
  const event = newRow()
  await own.event.create({ data: { ...event, crashes: 3 } })
  let quarantines = 0
  let runs = 0
  const runIsolated = createIsolation(database, createAdmission(1).isolated, () => quarantines++)
  const readState = async () => {
    const { crashes, quarantined, doneAt } = await own.event.findUniqueOrThrow({ where: { id: event.id } })
    return { crashes, quarantined, isDone: doneAt !== null }
  }
  await runIsolated(event, async () => void runs++)
  t.strictSame(await readState(), { crashes: 4, quarantined: false, isDone: false })
  t.strictSame([runs, quarantines], [1, 0])
  await runIsolated(event, async () => void runs++)
  t.strictSame(await readState(), { crashes: 5, quarantined: true, isDone: true })
  await runIsolated(event, async () => void runs++)
  t.strictSame(await readState(), { crashes: 5, quarantined: true, isDone: true })
  t.strictSame([runs, quarantines], [1, 1])
})

t.test('an event that is done or was removed is not isolated any more', async (t) => {
  const { database, own, newRow } = await createHarness(t)
  const event = newRow()
  await own.event.create({ data: { ...event, crashes: 2, doneAt: new Date() } })
  const runIsolated = createIsolation(database, createAdmission(1).isolated, () => t.fail('It was published'))
  for (const row of [event, newRow()]) await runIsolated(row, async () => void t.fail('It was run'))
  t.match(await own.event.findUnique({ where: { id: event.id } }), { crashes: 2, quarantined: false })
})

t.test('a failure takes back its own crash only, and only of an unfinished event', async (t) => {
  const { database, own, newRow } = await createHarness(t)
  const runIsolated = createIsolation(database, createAdmission(1).isolated)
  for (const meanwhile of [{ doneAt: new Date() }, { crashes: 0 }]) {
    const event = newRow()
    const where = { id: event.id }
    await own.event.create({ data: { ...event, crashes: 1 } })
    const run = runIsolated(event, async () => {
      await own.event.update({ where, data: meanwhile })
      throw new Error('It failed')
    })
    await t.rejects(run, { message: 'It failed' })
    t.match(await own.event.findUnique({ where }), { crashes: 2, ...meanwhile })
  }
})

t.test('isolated events run one at a time, and are counted when they begin', async (t) => {
  const { database, own, newRow } = await createHarness(t)
  const [first, second] = [newRow(), newRow()]
  for (const event of [first, second]) await own.event.create({ data: { ...event, crashes: 1 } })
  const runIsolated = createIsolation(database, createAdmission(1).isolated)
  const order: string[] = []
  const runs = [
    runIsolated(first, async () => {
      order.push('first begins')
      // Long enough for the second one to begin if it did not wait.
      for (const _ of Array(10))
        t.match(await own.event.findUnique({ where: { id: second.id } }), { crashes: 1 })
      order.push('first ends')
    }),
    runIsolated(second, async () => void order.push('second')),
  ]
  await Promise.all(runs)
  t.strictSame(order, ['first begins', 'first ends', 'second'])
})
