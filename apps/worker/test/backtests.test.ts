import { setTimeout as delay } from 'node:timers/promises'
import {
  type Database,
  firstIdOf,
  newId,
  type Prisma,
  patientLimitsOf,
  ReadTooLong,
  timeOf,
} from '@automation/database'
import { defaultWorkLimits } from '@automation/engine'
import { startPatientClock } from '@automation/launcher/patient-clock'
import { cancelBacktest, claimBacktest, findBacktest, listBacktests } from '@automation/rules'
import t, { type Test } from 'tap'
import { computeSlice } from '../src/backtests/compute-slice.js'
import { startBacktests } from '../src/backtests/run-backtests.js'
import { SlicesInThread } from '../src/backtests/slices-in-thread.js'
import { createHarness, type Harness, log, onOwnDatabase, testConfig } from './fixtures/harness.js'
import { slicesHere } from './fixtures/slices-here.js'

/** A costly rule takes seconds of CPU. */
const onlyLong = { skip: process.env.TEST_LONG ? false : 'only the long run has it' }

const limits = { workLimits: defaultWorkLimits, retentionDays: 0 }
const patientDatabase = () => ({ databaseUrl: testConfig().databaseUrl, databaseLimits: patientLimitsOf(1) })
const slice = { events: 700, ms: 60_000 }
const storedSlice = { scanned: Number }
const draft = {
  trigger: 'LEAD_CREATED',
  conditions: [{ field: 'score', operator: 'greater_than', value: 50 }],
  actions: [{ type: 'SEND_EMAIL', config: { to: 'p{{score}}@mail.example', subject: 'x', template: 'x' } }],
}

async function storeEvents({ own, workspaceId }: Harness, count: number, text = ''): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => ({
    id: newId(),
    workspaceId,
    type: 'LEAD_CREATED',
    data: { score: index % 100, ...(text && { text }) },
    doneAt: new Date(),
  }))
  for (let start = 0; start < count; start += 500)
    await own.event.createMany({ data: rows.slice(start, start + 500) })
}

async function create(
  { own, workspaceId }: Pick<Harness, 'own' | 'workspaceId'>,
  range: { from: number; to: number },
  { conditions = draft.conditions, pace = 'full' }: { conditions?: object[]; pace?: string } = {},
): Promise<string> {
  const id = newId()
  const subject = { draft: { ...draft, conditions }, ...range }
  const [rangeFrom, rangeTo] = [new Date(range.from), new Date(range.to)]
  const row = { id, workspaceId, subject, rangeFrom, rangeTo, pace, createdBy: 'cli:test' }
  await own.backtest.create({ data: row })
  return id
}

function lastHour() {
  return { from: Date.now() - 3_600_000, to: Date.now() + 1_000 }
}

/** Backtests of other tests must not be claimed here. */
async function claim(t: Test, { database, own }: Harness, id: string) {
  const claimed = await claimBacktest(database)
  if (claimed?.id !== id) t.fail(`claimed ${claimed?.id} and not ${id}`)
  if (claimed === undefined) throw new Error(`Nothing was claimed: ${await own.backtest.count()}`)
  return claimed
}

t.test('a backtest whose workers die after each slice reports the same to the byte', async (t) => {
  const harness = await createHarness(t)
  const { database, own } = harness
  await storeEvents(harness, 5_000)
  const range = lastHour()
  const whole = await create(harness, range)
  for (;;) {
    await computeSlice(database, await claim(t, harness, whole), limits, { slice })
    if ((await findBacktest(own, whole))?.status === 'done') break
  }
  const killed = await create(harness, range)
  let slices = 0
  for (;;) {
    // Its worker computes a slice, and dies before it stores it: the lease passes to another one.
    const lost = await claim(t, harness, killed)
    await own.backtest.updateMany({ where: { id: killed }, data: { leaseUntil: new Date(0) } })
    const next = await claim(t, harness, killed)
    t.equal(await computeSlice(database, lost, limits, { slice }), undefined, 'a lost lease stores nothing')
    t.match(await computeSlice(database, next, limits, { slice }), storedSlice)
    slices++
    if ((await findBacktest(own, killed))?.status === 'done') break
  }
  t.ok(slices > 1, `${slices} slices`)
  const [one, other] = await Promise.all([findBacktest(own, whole), findBacktest(own, killed)])
  t.equal(one?.report?.draft?.matched, 2_450)
  t.equal(one?.report?.scanned, 5_000)
  t.equal(JSON.stringify(other?.report), JSON.stringify(one?.report))
})

t.test('workers that compute backtests together never have the same one', async (t) => {
  const harness = await createHarness(t)
  const ids = [await create(harness, lastHour()), await create(harness, lastHour())]
  const claimed = await Promise.all(Array.from({ length: 6 }, () => claimBacktest(harness.database)))
  t.same(claimed.flatMap((one) => (one === undefined ? [] : [one.id])).sort(), ids.sort())
  await harness.own.backtest.deleteMany()
})

/** Lets workers take four turns. @param afterTurn what the first workspace does to the backtest whose turn it was */
async function checkTurns(
  t: Test,
  [first, other]: [Harness, Harness],
  afterTurn: (id: string, isOwn: boolean) => Promise<unknown> = async () => {},
): Promise<void> {
  const turns: string[] = []
  for (let turn = 0; turn < 4; turn++) {
    const { id = '', workspaceId = '' } = (await claimBacktest(first.database)) ?? {}
    turns.push(workspaceId)
    await first.database.system.backtest.update({ where: { id }, data: { lease: null, leaseUntil: null } })
    await afterTurn(id, workspaceId === first.workspaceId)
  }
  t.same(turns, [first.workspaceId, other.workspaceId, first.workspaceId, other.workspaceId])
  for (const { own } of [first, other]) await own.backtest.deleteMany()
}

t.test('workspaces take turns, however many backtests one of them has', async (t) => {
  const [busy, other] = [await createHarness(t), await createHarness(t)]
  for (let n = 0; n < 3; n++) await create(busy, lastHour())
  await create(other, lastHour())
  await checkTurns(t, [busy, other])
})

t.test('workspaces take turns, also where those of one end in their first slice', async (t) => {
  const [small, other] = [await createHarness(t), await createHarness(t)]
  for (const harness of [small, other]) await create(harness, lastHour())
  await checkTurns(t, [small, other], async (id, isOwn) => {
    if (!isOwn) return
    await small.own.backtest.updateMany({ where: { id }, data: { status: 'done' } })
    await create(small, lastHour())
  })
})

t.test('workspaces take turns, however many backtests one of them cancels', async (t) => {
  const [sly, other] = [await createHarness(t), await createHarness(t)]
  for (const harness of [sly, sly, other]) await create(harness, lastHour())
  await checkTurns(t, [sly, other], async () => {
    for (let n = 0; n < 11; n++) {
      const id = await create(sly, lastHour())
      await sly.own.backtest.updateMany({ where: { id }, data: { status: 'cancelled' } })
    }
  })
})

t.test('a backtest that ends its workers is given up', async (t) => {
  const harness = await createHarness(t)
  const id = await create(harness, lastHour())
  for (let worker = 0; worker < 5; worker++) {
    await claim(t, harness, id)
    await harness.own.backtest.updateMany({ where: { id }, data: { leaseUntil: new Date(0) } })
  }
  const backtests = startBacktests(
    harness.database,
    slicesHere(harness.database, limits),
    limits.workLimits,
    log,
  )
  t.teardown(() => backtests.stop())
  let found = await findBacktest(harness.own, id)
  while (found?.status === 'running') {
    await delay(50)
    found = await findBacktest(harness.own, id)
  }
  t.match(found, { status: 'failed', error: /too often/ })
})

/** The worst for patterns that count: two letters, in no order that repeats. */
function costlyText(): string {
  let state = 1
  return Array.from({ length: 2_000 }, () => {
    state = (state * 48_271) % 2_147_483_647
    return state % 2 === 0 ? 'a' : 'b'
  }).join('')
}
const costly = [{ field: 'text', operator: 'matches', value: '(?i)a[ab]{240}[cd]' }]

t.test(
  'slices of a costly rule end in their time, and together pass each event once',
  onlyLong,
  async (t) => {
    const harness = await createHarness(t)
    await storeEvents(harness, 20, costlyText())
    for (const pace of ['full', 'gentle']) {
      const id = await create(harness, lastHour(), { conditions: costly, pace })
      const short = { events: 1_000_000, ms: 100 }
      const passed: (number | undefined)[] = []
      for (let status = 'waiting'; status !== 'done'; ) {
        const claimed = await claim(t, harness, id)
        t.match(await computeSlice(harness.database, claimed, limits, { slice: short }), storedSlice)
        const found = await findBacktest(harness.own, id)
        passed.push(found?.report?.considered)
        status = found?.status ?? ''
      }
      t.ok(passed.length >= 3, `${pace}: ${passed}`)
      t.equal(passed.at(-1), 20)
    }
  },
)

t.test('a costly rule leaves the event loop of its worker to live events', onlyLong, async (t) => {
  const harness = await createHarness(t)
  await storeEvents(harness, 20, costlyText())
  const id = await create(harness, lastHour(), { conditions: costly })
  const slices = new SlicesInThread({ ...patientDatabase(), limits })
  t.teardown(() => slices.close())
  const { active } = performance.eventLoopUtilization()
  const startedAt = performance.now()
  for (let status = 'waiting'; status !== 'done'; ) {
    t.match(await slices.compute(await claim(t, harness, id)), storedSlice)
    status = (await findBacktest(harness.own, id))?.status ?? ''
  }
  const passed = performance.now() - startedAt
  const busy = performance.eventLoopUtilization().active - active
  t.ok(busy < passed / 2, `busy for ${busy.toFixed(0)} of ${passed.toFixed(0)} ms`)
  t.match(await findBacktest(harness.own, id), { report: { considered: 20 } })
})

t.test('a worker that shuts down ends the slice in its thread, and stores it', async (t) => {
  const harness = await createHarness(t)
  await storeEvents(harness, 20, costlyText())
  const id = await create(harness, lastHour(), { conditions: costly, pace: 'gentle' })
  const slices = new SlicesInThread({ ...patientDatabase(), limits })
  const backtests = startBacktests(harness.database, slices, limits.workLimits, log)
  while ((await harness.own.backtest.findUniqueOrThrow({ where: { id } })).lease === null) await delay(5)
  await backtests.stop()
  t.match(await harness.own.backtest.findUnique({ where: { id } }), { status: 'running', lease: null })
  const { report } = (await findBacktest(harness.own, id)) ?? {}
  t.ok(Number(report?.considered) < 20, `${report?.considered} events`)
  await harness.own.backtest.deleteMany()
})

t.test(
  'a slice that takes more memory than its thread has fails, and its worker goes on',
  onlyLong,
  async (t) => {
    const harness = await createHarness(t)
    const id = await create(harness, lastHour())
    const slices = new SlicesInThread({ ...patientDatabase(), limits, memoryMb: 64 })
    t.teardown(() => slices.close())
    const claimed = await claim(t, harness, id)
    const heavy = { ...claimed, state: Array.from({ length: 2_000_000 }, (_, index) => ({ index })) }
    t.match(await slices.compute(heavy as never), {
      why: 'failure',
      error: { code: 'ERR_WORKER_OUT_OF_MEMORY' },
    })
    t.match(await slices.compute(claimed), storedSlice)
  },
)

t.test('a thread that cannot start delays its backtest, and the worker still ends', async (t) => {
  const harness = await createHarness(t)
  const id = await create(harness, lastHour())
  const slices = new SlicesInThread({ ...patientDatabase(), limits, filename: './no-such-module.js' })
  const backtests = startBacktests(harness.database, slices, limits.workLimits, log)
  const row = () => harness.own.backtest.findUniqueOrThrow({ where: { id } })
  while ((await row()).delays === 0) await delay(20)
  await backtests.stop()
  t.match(await row(), { status: 'running', failures: 0, lease: null })
  await harness.own.backtest.deleteMany()
})

t.test('connections that Postgres closes between two slices cost none', async (t) => {
  const harness = await createHarness(t)
  await storeEvents(harness, 30)
  const id = await create(harness, lastHour())
  const url = new URL(testConfig().databaseUrl)
  url.searchParams.set('application_name', id)
  const slices = new SlicesInThread({ ...patientDatabase(), databaseUrl: url.href, limits })
  t.teardown(() => slices.close())
  t.match(await slices.compute(await claim(t, harness, id)), storedSlice)
  const terminated = await harness.database.system.$queryRaw<object[]>`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ${id}`
  t.equal(terminated.length, 2, 'it had two connections')
  await delay(200)
  const next = await create(harness, lastHour())
  t.match(await slices.compute(await claim(t, harness, next)), storedSlice)
})

t.test('a rest after a slow read ends where the worker shuts down', async (t) => {
  const harness = await createHarness(t)
  const { database } = harness
  await storeEvents(harness, 30)
  const id = await create(harness, lastHour(), { pace: 'gentle' })
  const readMs = 1_500
  const readsOf = (workspaceId: string) => {
    const reads = database.readsOf(workspaceId)
    const slowly =
      <Row>(read: (sql: Prisma.Sql) => Row) =>
      async (sql: Prisma.Sql) => {
        await delay(readMs)
        return read(sql)
      }
    const slow = {
      $queryRaw: slowly((sql) => reads.$queryRaw(sql)),
      $queryRows: slowly((sql) => reads.$queryRows(sql)),
    }
    return new Proxy(reads, {
      get: (target, name) => Reflect.get(name in slow ? slow : target, name),
    })
  }
  let isStopping = false
  const slices = slicesHere({ ...database, readsOf } as Database, limits, () => isStopping)
  const claimed = await claim(t, harness, id)
  const clock = startPatientClock()
  setTimeout(() => {
    isStopping = true
  }, 2.2 * readMs)
  t.match(await slices.compute(claimed), storedSlice)
  t.ok(clock() < 4 * readMs, `${clock()} ms: two reads, and no rest of four times as long`)
  await harness.own.backtest.deleteMany()
})

t.test(
  'a worker that shuts down stores what a backtest has, after the event that it evaluates',
  async (t) => {
    const harness = await createHarness(t)
    await storeEvents(harness, 30)
    const id = await create(harness, lastHour(), { pace: 'gentle' })
    const isStopping = () => true
    t.match(
      await computeSlice(harness.database, await claim(t, harness, id), limits, { isStopping }),
      storedSlice,
    )
    t.match(await findBacktest(harness.own, id), { status: 'running', report: { scanned: 1 } })
    await harness.own.backtest.deleteMany()
  },
)

t.test('a busy Postgres delays a backtest longer and longer, and does not end it', async (t) => {
  // Its worker would compute those of other tests, too, and wait for ever.
  const harness = await createHarness(t, await onOwnDatabase())
  const { own } = harness
  await storeEvents(harness, 3)
  const id = await create(harness, lastHour())
  let reads = 0
  const pauses: number[] = []
  // The second attempt waits until the pause after the first one is noted.
  const busyRead = async () => {
    const attempt = reads++
    while (pauses.length < attempt) await delay(5)
    throw new ReadTooLong()
  }
  const readsOf = () => ({ $queryRaw: busyRead, $queryRows: busyRead }) as never
  const slices = slicesHere({ ...harness.database, readsOf }, limits)
  const busy = startBacktests(harness.database, slices, limits.workLimits, log)
  while (pauses.length < 2) {
    const row = await own.backtest.findUniqueOrThrow({ where: { id } })
    if (row.status === 'failed') break
    if (row.delays > pauses.length && row.leaseUntil !== null)
      pauses.push(row.leaseUntil.getTime() - (row.turnAt?.getTime() ?? 0))
    await delay(20)
  }
  await busy.stop()
  t.ok(pauses.length === 2 && Number(pauses[1]) > Number(pauses[0]), `${pauses} ms`)
  t.equal(reads, 2)
  t.match(await own.backtest.findUnique({ where: { id } }), { status: 'running', failures: 0 })
  await own.backtest.updateMany({ where: { id }, data: { leaseUntil: null } })
  const claimed = await claim(t, harness, id)
  t.match(await computeSlice(harness.database, claimed, limits), storedSlice)
  t.match(await own.backtest.findUnique({ where: { id } }), { status: 'done', delays: 0 })
})

/** Reads in which a statement takes too long that returns this event among more than so many. */
function readsWithHeavyEvent({ database }: Harness, heavyId: string, most: number): Database {
  const readsOf = (workspaceId: string) => {
    const reads = database.readsOf(workspaceId)
    const $queryRows = async (sql: Prisma.Sql) => {
      const rows = await reads.$queryRows<{ id?: string }>(sql)
      if (rows.length > most && rows.some(({ id }) => id === heavyId)) throw new ReadTooLong()
      return rows
    }
    return new Proxy(reads, {
      get: (target, name) => (name === '$queryRows' ? $queryRows : Reflect.get(target, name)),
    })
  }
  return { ...database, readsOf }
}

/** Lets a worker compute a backtest until it has ended, without the pauses between its tries. */
async function runToEnd(t: Test, harness: Harness, database: Database, id: string) {
  const backtests = startBacktests(database, slicesHere(database, limits), limits.workLimits, log)
  t.teardown(() => backtests.stop())
  for (;;) {
    const row = await harness.own.backtest.findUniqueOrThrow({ where: { id } })
    if (row.status !== 'waiting' && row.status !== 'running') return row
    await harness.own.backtest.updateMany({ where: { id, lease: null }, data: { leaseUntil: null } })
    await delay(20)
  }
}

t.test('a read that takes too long is tried again with fewer events, and loses none', async (t) => {
  const harness = await createHarness(t)
  await storeEvents(harness, 300)
  const ids = await harness.own.event.findMany({ orderBy: { id: 'asc' }, select: { id: true } })
  const id = await create(harness, lastHour())
  const database = readsWithHeavyEvent(harness, ids[150]?.id ?? '', 5)
  const { status, report } = await runToEnd(t, harness, database, id)
  t.equal(status, 'done')
  t.match(report, { scanned: 300, considered: 300, isComplete: true })
})

t.test('a backtest with an event that cannot be read ends, and its report says where', async (t) => {
  const harness = await createHarness(t)
  await storeEvents(harness, 300)
  const ids = await harness.own.event.findMany({ orderBy: { id: 'asc' }, select: { id: true } })
  const id = await create(harness, lastHour())
  const database = readsWithHeavyEvent(harness, ids[150]?.id ?? '', 0)
  const { status, error, report } = await runToEnd(t, harness, database, id)
  t.equal(status, 'failed')
  const [, from = ''] =
    /^The events from (.+) on could not be read in time, not even one at a time$/.exec(error ?? '') ?? []
  t.ok(Math.abs(Date.parse(from) - timeOf(ids[149]?.id ?? '')) <= 1, `${error}`)
  t.match(report, { scanned: 150, considered: 150, isComplete: false, notes: [/could not be read in time/] })
})

t.test('lists read no subjects, and a backtest that ended keeps none', async (t) => {
  const harness = await createHarness(t)
  const { own, workspaceId } = harness
  const [rangeFrom, rangeTo] = [new Date('2026-03-01T00:00:00.000Z'), new Date('2026-03-02T00:00:00.000Z')]
  const row = { workspaceId, subject: {}, pace: 'full', createdBy: 'cli:test', rangeFrom, rangeTo }
  const id = newId()
  await own.backtest.create({ data: { ...row, id, status: 'done' } })
  const range = { from: rangeFrom.toISOString(), to: rangeTo.toISOString() }
  t.match(await listBacktests(own, { where: {}, orderBy: { id: 'desc' } }), [range])
  t.match(await findBacktest(own, id), range)

  const done = await create(harness, lastHour())
  t.match(await computeSlice(harness.database, await claim(t, harness, done), limits), storedSlice)
  const failed = await create(harness, lastHour())
  await own.backtest.update({ where: { id: failed }, data: { failures: 5 } })
  await computeSlice(harness.database, await claim(t, harness, failed), limits)
  const cancelled = await create(harness, lastHour())
  await cancelBacktest(own, cancelled)
  for (const [ended, status] of Object.entries({
    [done]: 'done',
    [failed]: 'failed',
    [cancelled]: 'cancelled',
  })) {
    const row = await own.backtest.findUnique({ where: { id: ended } })
    t.same([row?.status, row?.subject, row?.state], [status, {}, null])
  }
})

t.test('a backtest begins when no event of its range can be committed any more', async (t) => {
  const harness = await createHarness(t)
  const { database, own, workspaceId } = harness
  await storeEvents(harness, 2)
  let commit = () => {}
  const isAsked = new Promise<void>((resolve) => {
    commit = resolve
  })
  let isStored = () => {}
  const stored = new Promise<void>((resolve) => {
    isStored = resolve
  })
  const late = database.system.$transaction(async (transaction) => {
    const row = { workspaceId, type: 'LEAD_CREATED', data: { score: 99 }, doneAt: new Date() }
    await transaction.event.create({ data: { ...row, id: newId() } })
    isStored()
    await isAsked
  })
  await stored
  const id = await create(harness, { from: Date.now() - 3_600_000, to: Date.now() })
  t.equal(await computeSlice(database, await claim(t, harness, id), limits), undefined)
  t.match(await findBacktest(own, id), { status: 'running', progress: 0, report: null })
  commit()
  await late
  await own.backtest.updateMany({ where: { id }, data: { leaseUntil: null } })
  t.match(await computeSlice(database, await claim(t, harness, id), limits), storedSlice)
  t.match(await findBacktest(own, id), { status: 'done', report: { scanned: 3, draft: { matched: 1 } } })
})

t.test('a backtest says so where retention has overtaken it', async (t) => {
  const harness = await createHarness(t)
  const { database, own, workspaceId } = harness
  const from = Date.now() - 3 * 86_400_000
  await own.event.createMany({
    data: Array.from({ length: 10 }, (_, index) => ({
      id: firstIdOf(from + 1 + index).slice(0, 24) + newId().slice(24),
      workspaceId,
      type: 'LEAD_CREATED',
      data: {},
      acceptedAt: new Date(from + 1 + index),
      doneAt: new Date(),
    })),
  })
  const id = await create(harness, { from, to: Date.now() })
  const part = { events: 5, ms: 60_000 }
  await computeSlice(database, await claim(t, harness, id), limits, { slice: part })
  const first = await findBacktest(own, id)
  t.match(first?.report, { scanned: 5, historyFrom: null })
  t.notMatch(first?.report?.notes.join(), /Retention/)
  await own.workspace.updateMany({ data: { retentionDays: 1 } })
  await computeSlice(database, await claim(t, harness, id), limits, { slice: part })
  await own.workspace.updateMany({ data: { retentionDays: 60 } })
  await computeSlice(database, await claim(t, harness, id), limits)
  const { report, status } = (await findBacktest(own, id)) ?? {}
  t.equal(status, 'done')
  const border = Date.parse(report?.historyFrom ?? '')
  t.ok(border > from + 86_400_000 && border < Date.now() - 86_400_000, `${report?.historyFrom}`)
  t.match(report?.notes.join(), /Retention removed the events before/)
})
