import type { Database } from '@automation/database'
import t from 'tap'
import { createCompiledRules } from '../src/running/compiled-rules.js'
import { type House, openHouse } from './fixtures/house.js'

const task = { type: 'CREATE_TASK', config: { title: 'Task' } }

/** An event as it was loaded. */
function eventOf(house: House, rulesVersion: number, type = 'LEAD_CREATED') {
  return { ...house.newEvent(type), depth: 0, rootId: null, rulesVersion, autoPauseAfter: null, crashes: 0 }
}

/** A database that counts reads, and fails where the test says so. */
function watch(database: Database) {
  const seen = { reads: 0, isAway: false }
  const watched: Database = Object.assign(Object.create(database), {
    forWorkspace: (workspaceId: string) => {
      seen.reads += 1
      if (seen.isAway) throw new Error('Postgres is away')
      return database.forWorkspace(workspaceId)
    },
  })
  return { seen, watched }
}

t.test('rules are read once for each version, and an older event uses the newer ones', async (t) => {
  const house = await openHouse(t)
  const first = await house.createRule([task])
  const { seen, watched } = watch(house.database)
  const findRules = createCompiledRules(watched)
  const set = await findRules(eventOf(house, 5))
  t.same(
    set.rules.map(({ id }) => id),
    [first],
  )
  for (const version of [5, 4, 0]) t.equal(await findRules(eventOf(house, version)), set)
  t.equal(seen.reads, 1)
  const second = await house.createRule([task])
  const newer = await findRules(eventOf(house, 6))
  t.same(
    newer.rules.map(({ id }) => id),
    [first, second],
  )
  t.equal(await findRules(eventOf(house, 5)), newer)
  t.equal(seen.reads, 2)
})

t.test('each type of each workspace has its own rules', async (t) => {
  const [house, other] = [await openHouse(t), await openHouse(t)]
  const findRules = createCompiledRules(house.database)
  const events = [eventOf(house, 0), eventOf(house, 0, 'DEAL_WON'), eventOf(other, 0)]
  const expected = [
    await house.createRule([task]),
    await house.createRule([task], 'DEAL_WON'),
    await other.createRule([task]),
  ]
  for (const [index, event] of events.entries())
    t.same(
      (await findRules(event)).rules.map(({ id }) => id),
      [expected[index]],
    )
})

t.test('rules are read again after an hour, so that retention keeps a set in use', async (t) => {
  const house = await openHouse(t)
  await house.createRule([task])
  const { seen, watched } = watch(house.database)
  const findRules = createCompiledRules(watched)
  const set = await findRules(eventOf(house, 1))
  const begin = Date.now()
  let now = begin + 59 * 60_000
  t.intercept(Date, 'now', { value: () => now })
  await findRules(eventOf(house, 1))
  t.equal(seen.reads, 1)
  now = begin + 61 * 60_000
  t.equal(await findRules(eventOf(house, 1)), set, 'and what has not changed is the same')
  t.equal(seen.reads, 2)
})

t.test('a failed read fails only for the events that waited for it', async (t) => {
  const house = await openHouse(t)
  const rule = await house.createRule([task])
  const { seen, watched } = watch(house.database)
  const findRules = createCompiledRules(watched)
  seen.isAway = true
  const failing = findRules(eventOf(house, 1))
  // It comes while the first one is being read.
  const next = findRules(eventOf(house, 2)).catch(() => 'failed, too')
  await t.rejects(failing, { message: 'Postgres is away' })
  t.equal(await next, 'failed, too')
  seen.isAway = false
  const set = await findRules(eventOf(house, 1))
  t.same(
    set.rules.map(({ id }) => id),
    [rule],
  )
})

t.test('a read that ends, with or without success, does not replace one that began later', async (t) => {
  const house = await openHouse(t)
  await house.createRule([task])
  for (const isAway of [false, true]) {
    const { seen, watched } = watch(house.database)
    const findRules = createCompiledRules(watched)
    seen.isAway = isAway
    const first = findRules(eventOf(house, 1)).catch(() => {
      seen.isAway = false
    })
    const second = findRules(eventOf(house, 2))
    await first
    t.equal(findRules(eventOf(house, 2)), second)
    t.equal((await second).rules.length, 1)
    t.equal(findRules(eventOf(house, 2)), second)
    t.equal(seen.reads, 2)
  }
})
