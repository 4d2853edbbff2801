import type { Database } from '@automation/database'
import t from 'tap'
import { createCompiledRules } from '../src/running/rule-set.js'
import { createHarness, type Harness } from './fixtures/harness.js'

const never = { field: 'name', operator: 'equals', value: 'nobody' }
const task = { type: 'CREATE_TASK', config: { title: 'Task' } }

/** An event as it was loaded. */
function eventOf(harness: Harness, rulesVersion: number, type = 'LEAD_CREATED') {
  return {
    ...harness.newEvent(type),
    depth: 0,
    rootId: null,
    rulesVersion,
    acceptedAt: Date.now(),
    autoPauseAfter: null,
    createdBy: null,
    heapBytes: 2,
  }
}

/** A database that counts reads, and fails on request. */
function watch(database: Database) {
  const seen = { reads: 0, isAway: false }
  const watched: Database = Object.assign(Object.create(database), {
    run: async (name: string, text: string, values: unknown[]) => {
      if (name === 'read_rules') {
        seen.reads += 1
        if (seen.isAway) throw new Error('Postgres is away')
      }
      return database.run(name, text, values)
    },
  })
  return { seen, watched }
}

t.test('rules are read once for each version, and an older event uses the newer rules', async (t) => {
  const harness = await createHarness(t)
  const first = await harness.createRule([task])
  const { seen, watched } = watch(harness.database)
  const findRules = createCompiledRules(watched)
  const set = await findRules(eventOf(harness, 5))
  t.same(
    set.rules.map(({ id }) => id),
    [first],
  )
  for (const version of [5, 4, 0]) t.equal(await findRules(eventOf(harness, version)), set)
  t.equal(seen.reads, 1)
  const second = await harness.createRule([task])
  const newer = await findRules(eventOf(harness, 6))
  t.same(
    newer.rules.map(({ id }) => id),
    [first, second],
  )
  t.equal(await findRules(eventOf(harness, 5)), newer)
  t.equal(seen.reads, 2)
})

t.test('after a failover that took versions back, no rule of before is used', async (t) => {
  const harness = await createHarness(t)
  const id = await harness.createRule([task])
  let generation = '7/1'
  const database: Database = Object.assign(Object.create(harness.database), { generation: () => generation })
  const findRules = createCompiledRules(database)
  const lost = await findRules(eventOf(harness, 5))
  t.match(lost.rules, [{ id, version: 1 }])
  // The change that was lost had made version 1; the same numbers stand for another one now.
  await harness.own.rule.update({ where: { id }, data: { conditions: [never] } })
  t.equal(await findRules(eventOf(harness, 5)), lost)
  generation = '7/2'
  const found = await findRules(eventOf(harness, 5))
  t.strictSame([...found.findCandidates({ name: 'x' })], [])
  t.equal(await findRules(eventOf(harness, 4)), found)
})

t.test('the compilation of many rules gives way to others', async (t) => {
  const harness = await createHarness(t)
  for (let n = 0; n < 30; n++) {
    // Patterns that no other rule has: about 3 ms each.
    const patterns = Array.from({ length: 5 }, (_, of) => `(?i)a[ab]{${300 + 5 * n + of}}[cd]`)
    const conditions = [{ any: patterns.map((value) => ({ field: 'text', operator: 'matches', value })) }]
    const id = await harness.createRule([task])
    await harness.own.rule.update({ where: { id }, data: { conditions } })
  }
  // Of the others, since the rules were read.
  let turns = 0
  const { run } = harness.database
  const reading = (async (...of: Parameters<typeof run>) => {
    const rows = await run(...of)
    if (of[0] === 'read_rules') turns = 0
    return rows
  }) as typeof run
  const findRules = createCompiledRules({ ...harness.database, run: reading })
  const timer = setInterval(() => turns++, 1)
  t.equal((await findRules(eventOf(harness, 1))).rules.length, 30)
  clearInterval(timer)
  t.ok(turns > 2, `others had ${turns} turns`)
})

t.test('each type of each workspace has its own rules', async (t) => {
  const [harness, other] = [await createHarness(t), await createHarness(t)]
  const findRules = createCompiledRules(harness.database)
  const events = [eventOf(harness, 0), eventOf(harness, 0, 'DEAL_WON'), eventOf(other, 0)]
  const expected = [
    await harness.createRule([task]),
    await harness.createRule([task], 'DEAL_WON'),
    await other.createRule([task]),
  ]
  for (const [index, event] of events.entries())
    t.same(
      (await findRules(event)).rules.map(({ id }) => id),
      [expected[index]],
    )
})

t.test('rules are read again after an hour, so that retention keeps a set in use', async (t) => {
  const harness = await createHarness(t)
  await harness.createRule([task])
  const { seen, watched } = watch(harness.database)
  const findRules = createCompiledRules(watched)
  // Made now: an id from the next hour would make all later ids of this process too new for a range of time.
  const event = eventOf(harness, 1)
  const set = await findRules(event)
  const begin = Date.now()
  let now = begin + 59 * 60_000
  t.intercept(Date, 'now', { value: () => now })
  await findRules(event)
  t.equal(seen.reads, 1)
  now = begin + 61 * 60_000
  t.equal(await findRules(event), set, 'unchanged rules give the same set')
  t.equal(seen.reads, 2)
})

t.test('sets are cached by their bytes: large ones leave each other, and no small ones', async (t) => {
  const harness = await createHarness(t)
  const { seen, watched } = watch(harness.database)
  const types = ['LEAD_CREATED', 'DEAL_WON', 'TASK_COMPLETED']
  for (const type of types) await harness.createRule([task], type)
  const largeTypes = ['LARGE', 'LARGE_TOO']
  for (const type of largeTypes)
    await harness.createRule([{ type: 'CREATE_TASK', config: { title: 'x'.repeat(40_000) } }], type)
  const findRules = createCompiledRules(watched, 100_000)
  const read = async (...types: string[]) => {
    const before = seen.reads
    for (const type of types) t.equal((await findRules(eventOf(harness, 1, type))).rules.length, 1)
    return seen.reads - before
  }
  t.equal(await read(...types, ...types), types.length)
  t.equal(await read('LARGE', ...types), 1)
  t.equal(await read('LARGE', ...types), 0, 'a set beyond the limit is cached alone')
  t.equal(await read('LARGE_TOO', 'LARGE', ...types), 2)
})

t.test('a failed read fails only for the events that waited for it', async (t) => {
  const harness = await createHarness(t)
  const rule = await harness.createRule([task])
  const { seen, watched } = watch(harness.database)
  const findRules = createCompiledRules(watched)
  seen.isAway = true
  const failing = findRules(eventOf(harness, 1))
  // It arrives during the read for the first one.
  const next = findRules(eventOf(harness, 2)).catch(() => 'failed, too')
  await t.rejects(failing, { message: 'Postgres is away' })
  t.equal(await next, 'failed, too')
  seen.isAway = false
  const set = await findRules(eventOf(harness, 1))
  t.same(
    set.rules.map(({ id }) => id),
    [rule],
  )
})

t.test('a read that ends, with or without success, does not replace one that began later', async (t) => {
  const harness = await createHarness(t)
  await harness.createRule([task])
  for (const isAway of [false, true]) {
    const { seen, watched } = watch(harness.database)
    const findRules = createCompiledRules(watched)
    seen.isAway = isAway
    const first = findRules(eventOf(harness, 1)).catch(() => {
      seen.isAway = false
    })
    const second = findRules(eventOf(harness, 2))
    await first
    t.equal(findRules(eventOf(harness, 2)), second)
    t.equal((await second).rules.length, 1)
    t.equal(findRules(eventOf(harness, 2)), second)
    t.equal(seen.reads, 2)
  }
})
