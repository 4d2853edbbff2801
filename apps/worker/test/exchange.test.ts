import { newId, openDatabase } from '@automation/database'
import { createTaskRemoval, dayMs, histories, holdLeaves, readWholeFrom } from '@automation/ledger'
import t from 'tap'
import { keptDaysOf, removeOld } from '../src/retention/retention.js'
import {
  allRows,
  cut,
  faults,
  idsAt,
  isClean,
  keeping,
  killedStep,
  leavesOf,
  settle,
  settleUntil,
  startAnew,
  stateOf,
  step,
  stepAtLock,
} from './fixtures/leaves.js'
import { createWorkspace, database, databaseUrl, now, openOldRows } from './fixtures/old-rows.js'

const weekMs = 7 * dayMs
await openOldRows(t)
t.beforeEach(startAnew)

const later = now + 37 * dayMs

/** Old rows of each kind, in a week that goes then. */
async function storeOld() {
  for (let weeks = 4; weeks >= -6; weeks--) await cut(keeping(now - weeks * weekMs, 56))
  const usual = await createWorkspace()
  const long = await createWorkspace(90)
  const endless = await createWorkspace(3_650)
  const short = await createWorkspace(1)
  const gone = [
    await usual.store(-1),
    await usual.store(-1, ['succeeded', 'failed', 'cancelled']),
    await usual.store(-2, ['succeeded']),
    await short.store(-2, ['succeeded']),
  ]
  const kept = [
    await usual.store(-1, [], { doneAt: null }),
    await usual.store(-1, ['succeeded', 'waiting']),
    await usual.store(-2, ['retrying', 'failed']),
    await usual.store(-2, ['succeeded', 'failed'], {}, -20),
    await short.store(-2, ['running']),
    await long.store(-1, ['succeeded']),
    await endless.store(-2, ['failed']),
    await usual.store(-9, ['succeeded']),
  ]
  return { usual, long, endless, short, gone, kept }
}

async function remains(ids: string[]): Promise<{ events: number; executions: number }> {
  const where = { in: ids }
  return {
    events: await database.system.event.count({ where: { id: where } }),
    executions: await database.system.execution.count({ where: { eventId: where } }),
  }
}

t.test('what a week has that nobody keeps goes, and all else stays as it was', async (t) => {
  const { usual, gone, kept } = await storeOld()
  const { eventId, executionId } = idsAt(now + dayMs)
  // It was collected by a batch that is not over.
  const [batch] = await usual.own.execution.findMany({
    where: { eventId: kept[1] as string, status: 'waiting' },
  })
  await usual.own.event.create({
    data: {
      id: eventId,
      workspaceId: usual.id,
      type: 'LEAD_CREATED',
      data: {},
      doneAt: new Date(now + dayMs),
    },
  })
  await storeSuppressed(usual, eventId, executionId, now + dayMs)
  await claim(usual.id, executionId, eventId, batch?.id ?? null)
  const [old] = await usual.own.execution.findMany({ where: { eventId: gone[1] as string } })
  await claim(usual.id, old?.id as string, gone[1] as string, null)
  for (const id of [gone[1], kept[1]] as string[])
    await database.system.eventKey.create({
      data: { workspaceId: usual.id, key: newId(), eventId: id, acceptedAt: new Date(now) },
    })
  const isGone = (row: string) => gone.some((id) => row.includes(id))
  const before = (await allRows()).filter((row) => !isGone(row))
  await settle(keeping(later))
  t.strictSame(await allRows(), before)
  t.strictSame(await remains(gone), { events: 0, executions: 0 })
  t.match(await remains([eventId]), { events: 1, executions: 1 })
  t.notOk((await leavesOf('events')).includes('events_20260601'))
  t.equal(await database.system.eventKey.count({ where: { eventId: { in: gone } } }), 0)
  t.equal(await database.system.eventKey.count({ where: { eventId: { in: kept } } }), 1)
  t.match(await database.system.keyClaim.findUnique({ where: { executionId: old?.id as string } }), {
    isExclusive: false,
  })
  t.match(await database.system.keyClaim.findUnique({ where: { executionId } }), { batchId: batch?.id })
  // What they wait for has come.
  await database.system.execution.updateMany({
    data: { status: 'succeeded', finishedAt: new Date(now + 3 * dayMs) },
  })
  await database.system.event.updateMany({ data: { doneAt: new Date(now + 3 * dayMs) } })
  await settle(keeping(later + weekMs))
  t.strictSame(await remains(kept.slice(0, 4)), { events: 0, executions: 0 })
  t.match(await remains(kept.slice(5, 7)), { events: 2, executions: 2 })
  await isClean(t)
})

async function storeSuppressed(
  { id: workspaceId, own }: Awaited<ReturnType<typeof createWorkspace>>,
  eventId: string,
  id: string,
  time: number,
) {
  const at = new Date(time)
  const rest = { eventType: 'LEAD_CREATED', handlerId: newId(), ruleVersion: 1, results: [] }
  await own.execution.create({
    data: { id, workspaceId, eventId, ...rest, status: 'suppressed', startedAt: at, finishedAt: at },
  })
}

function claim(workspaceId: string, executionId: string, eventId: string, batchId: string | null) {
  const rest = { ruleId: newId(), keyId: newId(), acceptedAt: new Date(now), expiresAt: new Date(now) }
  return database.system.keyClaim.create({
    data: {
      ...rest,
      workspaceId,
      executionId,
      eventId,
      isGranted: false,
      isCounted: false,
      isExclusive: true,
      batchId,
    },
  })
}

for (const at of ['copying', 'comparing', 'swapping'])
  t.test(`what changes before a week is gone is as it was changed: ${at}`, async (t) => {
    const { usual, long, gone, kept } = await storeOld()
    await settleUntil(keeping(later), at)
    if (at === 'copying') await step(keeping(later))
    // Erased, opened again, removed, ended, and accepted by a clock that is weeks late.
    await usual.own.event.updateMany({ where: { id: kept[1] as string }, data: { data: { erased: at } } })
    await usual.own.event.updateMany({ where: { id: gone[0] as string }, data: { data: { erased: at } } })
    const [opened] = await usual.own.execution.findMany({
      where: { eventId: gone[1] as string, status: 'failed' },
    })
    await usual.own.execution.update({
      where: { id: opened?.id as string },
      data: { status: 'retrying', finishedAt: null, dueAt: new Date(later) },
    })
    await long.own.execution.deleteMany({ where: { eventId: kept[5] as string } })
    await long.own.event.deleteMany({ where: { id: kept[5] as string } })
    const ended = { status: 'succeeded' as const, finishedAt: new Date(now + 2 * dayMs), dueAt: null }
    await usual.own.execution.updateMany({ where: { eventId: kept[2] as string }, data: ended })
    const late = await usual.store(-3, ['running'], {}, -37)
    const stay = [...kept.filter((_, index) => index !== 2 && index !== 5), gone[1] as string, late]
    const before = (await allRows()).filter((row) => stay.some((id) => row.includes(id)))
    await settle(keeping(later))
    t.strictSame(await allRows(), before)
    await isClean(t)
  })

t.test('who writes rows needs no rights in the schema of the leaves', async (t) => {
  const { usual, kept } = await storeOld()
  await settleUntil(keeping(later), 'copying')
  const role = `writer_${newId().replaceAll('-', '')}`
  const run = (sql: string) => database.system.$executeRawUnsafe(sql)
  await run(`CREATE ROLE ${role}`)
  await run(`GRANT SELECT, UPDATE ON events TO ${role}`)
  t.teardown(() => run(`DROP OWNED BY ${role}; DROP ROLE ${role}`))
  await database.system.$transaction(async (transaction) => {
    await transaction.$executeRawUnsafe(`SET LOCAL ROLE ${role}`)
    await transaction.event.updateMany({ where: { id: kept[0] as string }, data: { crashes: 3 } })
  })
  await settle(keeping(later))
  t.match(await usual.own.event.findUnique({ where: { id: kept[0] as string } }), { crashes: 3 })
  await isClean(t)
})

t.test('a worker that is killed at any step leaves all to the next one', async (t) => {
  const { gone } = await storeOld()
  const before = (await allRows()).filter((row) => !gone.some((id) => row.includes(id)))
  const steps = new Set<string>()
  for (let isOver = false; !isOver; ) {
    await killedStep(keeping(later))
    const [exchange] = await database.system.$queryRaw<{ step: string }[]>`SELECT step FROM history.exchanges`
    if (exchange?.step) steps.add(exchange.step)
    const rows = await allRows()
    t.ok(before.every((row) => rows.includes(row)))
    isOver = !(await step(keeping(later)))
  }
  t.strictSame([...steps], ['watching', 'copying', 'comparing', 'swapping', 'releasing', 'dropping'])
  t.strictSame(await allRows(), before)
  await isClean(t)
})

t.test('nobody misses a row while it is exchanged, also in a snapshot of his own', async (t) => {
  const { gone } = await storeOld()
  const before = (await allRows()).filter((row) => !gone.some((id) => row.includes(id)))
  const kept = keeping(later)
  await settleUntil(kept, 'copying')
  const reader = openDatabase(databaseUrl, 3)
  t.teardown(() => reader.close())
  const serializable = { isolationLevel: 'RepeatableRead' as const, timeout: 60_000 }
  await reader.system.$transaction(async (transaction) => {
    await transaction.$queryRaw`SELECT count(*) FROM workspaces`
    await settleUntil(kept, 'swapping')
    await settle(kept)
    await settle(kept)
    t.ok((await leavesOf('events')).includes('events_20260601'), 'the swap waits for the reader')
    const [{ waits_for }] = await database.system.$queryRaw<
      [{ waits_for: string }]
    >`SELECT waits_for FROM history.exchanges`
    t.match(waits_for, /^the transaction of process \d+ of Postgres$/)
    t.ok((await allRows(transaction)).length >= before.length)
  }, serializable)
  await settleUntil(kept, 'swapping')
  // Who writes for long in another database of this Postgres makes a new snapshot look as old.
  for (let isYoung = false; !isYoung; )
    await reader.system.$transaction(async (transaction) => {
      const [row] = await transaction.$queryRaw<[{ isYoung: boolean }]>`
        SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint > written_by AS "isYoung" FROM history.exchanges`
      isYoung = row.isYoung
      if (!isYoung) return
      await settle(kept)
      t.notOk(
        (await leavesOf('events')).includes('events_20260601'),
        'a reader that sees the copies holds up nothing',
      )
      t.strictSame(await allRows(transaction), before)
    }, serializable)
  t.strictSame(await allRows(), before)
  await isClean(t)
})

t.test('who holds a row of the week holds up its end, and nobody waits behind it for long', async (t) => {
  const { gone } = await storeOld()
  const before = (await allRows()).filter((row) => !gone.some((id) => row.includes(id)))
  const holder = openDatabase(databaseUrl, 3)
  t.teardown(() => holder.close())
  for (const at of ['watching', 'swapping']) {
    await settleUntil(keeping(later), at)
    await holder.system.$transaction(
      async (transaction) => {
        await transaction.$queryRaw`UPDATE events SET crashes = 0 WHERE id = ${gone[0]}::uuid`
        while ((await stateOf())?.waitsFor === null)
          await stepAtLock(keeping(later), async (own) => {
            const limits = await own.$queryRaw<{ name: string; setting: string }[]>`
              SELECT name, setting FROM pg_settings
              WHERE name IN ('lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout') ORDER BY name`
            t.strictSame(
              limits.map(({ setting }) => setting),
              ['1000', '50', '50'],
              'a process that stands still under the lock holds it for a second',
            )
          })
        t.strictSame(await stateOf(), { step: at, waitsFor: 'a lock' })
      },
      { timeout: 60_000 },
    )
  }
  await settle(keeping(later))
  t.strictSame(await allRows(), before)
  await isClean(t)
})

t.test(
  'who holds the leaves first reads one snapshot to its end, whatever changes at the last moment',
  async (t) => {
    const { usual } = await storeOld()
    await cut(keeping(later))
    await settleUntil(keeping(later), 'swapping')
    const reader = openDatabase(databaseUrl, 3)
    t.teardown(() => reader.close())
    await reader.system.$transaction(
      async (transaction) => {
        await holdLeaves(transaction)
        const before = await allRows(transaction)
        await usual.store(-3, ['running'])
        await settle(keeping(later))
        t.ok((await leavesOf('events')).includes('events_20260601'))
        t.strictSame(await allRows(transaction), before)
      },
      { isolationLevel: 'RepeatableRead', timeout: 60_000 },
    )
    await settle(keeping(later))
    t.notOk((await leavesOf('events')).includes('events_20260601'))
    await isClean(t)
  },
)

t.test('new leaves that differ from the old ones are dropped, and nothing is lost', async (t) => {
  await storeOld()
  const before = await allRows()
  await settleUntil(keeping(later), 'comparing')
  await database.system.$executeRaw`UPDATE history.events_exchanged_new SET type = 'OTHER'`
  await settle(keeping(later))
  t.strictSame(await allRows(), before)
  t.match(faults.splice(0), [/rows of new leaves of events differ from the old ones/])
  await settle(keeping(later + 10 * 60_000 - 1))
  t.ok((await leavesOf('events')).includes('events_20260601'), 'nobody begins anew for ten minutes')
  await settle(keeping(later + 10 * 60_000))
  t.notOk((await leavesOf('events')).includes('events_20260601'))
  await isClean(t)
})

t.test('if the days change, or the clocks differ, nothing goes that would have gone', async (t) => {
  const { gone } = await storeOld()
  const before = await allRows()
  await settleUntil(keeping(later), 'swapping')
  await settle(keeping(later, 30, { clocksAgree: false }))
  t.strictSame(await allRows(), before)
  t.match(await remains(gone), { events: 4 })
  await settle(keeping(later, 365))
  t.strictSame(await allRows(), before)
  await isClean(t)
})

t.test('tasks go whole quarters at a time, once their execution is gone', async (t) => {
  const { id: workspaceId, own, store } = await createWorkspace()
  for (const age of [150, 70, 0]) await cut(keeping(now - age * dayMs, 400))
  const waiting = await store(91, ['waiting'], { addresseeKind: 'rule', addresseeId: newId() })
  const [execution] = await own.execution.findMany({ where: { eventId: waiting } })
  const rest = { workspaceId, actionIndex: 0, ruleId: newId(), priority: 'normal' }
  const taskOf = (title: string, days: number, executionId = newId()) => ({
    ...rest,
    id: idsAt(now - days * dayMs).eventId,
    executionId,
    title,
    createdAt: new Date(now - days * dayMs),
  })
  await own.task.createMany({
    data: [
      ...[taskOf('old', 91), taskOf('kept', 91, execution?.id), taskOf('older', 30)],
      ...[taskOf('of a quarter that is not over', -60), taskOf('new', -500)],
    ],
  })
  const titles = async () => (await own.task.findMany({ orderBy: { id: 'asc' } })).map(({ title }) => title)
  await settle(keeping(now + 520 * dayMs, 400), 'tasks')
  t.strictSame(await titles(), ['kept', 'of a quarter that is not over', 'new'])
  await own.execution.deleteMany()
  await settle(keeping(now + 520 * dayMs, 400), 'tasks')
  t.equal((await titles()).length, 3, 'what an exchange has left goes one by one')
  const removeTasks = (wholeFrom: string) =>
    database.system.$transaction((transaction) =>
      createTaskRemoval(now + 520 * dayMs, 400, wholeFrom)(transaction, 100),
    )
  const wholeFrom = await database.system.$transaction((transaction) =>
    readWholeFrom(transaction, histories.tasks, { now: now + 520 * dayMs, days: 400 }),
  )
  await removeTasks(wholeFrom)
  t.strictSame(await titles(), ['new'], 'and so does a leaf of more than a quarter')
  await isClean(t)
})

t.test('rows go with their leaf, or one by one if the leaf is a day late', async (t) => {
  const { gone, short, usual } = await storeOld()
  await cut(keeping(later))
  const remove = (days: number) => removeOld(database, later + days * dayMs, keptDaysOf(30))
  t.match(await remove(0), { history: 2 }, 'of the workspace with fewer days')
  t.strictSame(await short.left(), { events: [await idOf(short)], executions: 1 })
  t.match(await remains(gone), { events: 3, executions: 4 })
  await step(keeping(later))
  await remove(1)
  t.match(await remains(gone), { events: 3, executions: 4 }, 'an exchange is at it')
  await database.system.$executeRawUnsafe(
    `UPDATE history.exchanges SET waits_for = 'a lock', waits_since = now() - interval '25 hours'`,
  )
  await settle(keeping(later))
  t.strictSame(faults.splice(0), [
    'an exchange of leaves of events has waited for a lock for a day, so old rows go one by one',
  ])
  await remove(1)
  t.match(await remains(gone), { events: 0, executions: 0 })
  t.equal((await usual.left()).events.length, 5)
  await isClean(t)
})

async function idOf({ own }: Awaited<ReturnType<typeof createWorkspace>>): Promise<string> {
  const event = await own.event.findFirst({ where: { doneAt: { not: null } }, orderBy: { id: 'asc' } })
  return event?.id as string
}

t.test('what somebody keeps for long is in few leaves, which are seldom copied', async (t) => {
  const long = await createWorkspace(3_650)
  const usual = await createWorkspace()
  const most = { leaves: 0 }
  let ids = 0
  for (let days = 0; days < 7 * 30; days += 7) {
    const kept = keeping(now + days * dayMs)
    await settle(kept)
    for (const { store } of [long, usual, usual]) await store(-days, ['succeeded'])
    ids++
    most.leaves = Math.max(most.leaves, (await leavesOf('events')).length)
  }
  t.equal((await long.left()).executions, ids)
  t.ok((await usual.left()).executions <= 2 * 6)
  t.ok(most.leaves <= 12, `${most.leaves} leaves`)
  await isClean(t)
})
