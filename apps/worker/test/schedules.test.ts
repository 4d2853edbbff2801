import { setTimeout } from 'node:timers/promises'
import { type Database, newId, Prisma, tickIdOf } from '@automation/database'
import { auditLedger, makeTicks } from '@automation/ledger'
import { openMetrics } from '@automation/process/telemetry'
import { changeRules, createRules, saveRules } from '@automation/rules'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { createTicker } from '../src/repair/tick-schedules.js'
import { createWorkerMetrics } from '../src/worker-metrics.js'
import { createHarness, type Harness, onOwnDatabase } from './fixtures/harness.js'

const task = [{ type: 'CREATE_TASK', config: { title: 'At {{localTime}}, {{missed}} missed' } }]
const minuteMs = 60_000

/** The time of Postgres, less some. */
async function ago({ database }: Harness, ms: number): Promise<Date> {
  const [row] = await database.system.$queryRaw<{ now: Date }[]>`SELECT now() AS now`
  return new Date((row as { now: Date }).now.getTime() - ms)
}

/** A schedule that has no tick within eleven hours of now: whenever a test runs, none becomes due meanwhile. */
async function farFromNow(harness: Harness, more: object = {}) {
  const hour = ((await ago(harness, 0)).getUTCHours() + 12) % 24
  return { cron: `0 ${hour} * * *`, timezone: 'UTC', ...more }
}

async function schedule(harness: Harness, schedule: object, fields: object = {}) {
  const { database, workspaceId } = harness
  const administrator = { database, workspaceId, actor: 'test' }
  const definition = {
    name: 'Rule',
    description: '',
    labels: [],
    trigger: 'SCHEDULE',
    group: null,
    order: null,
    perKey: null,
    schedule,
  }
  const rule = { ...definition, conditions: [], actions: task, isActive: true, mode: 'live', ...fields }
  return changeRules(administrator, async (transaction) => {
    const [created] = await createRules(transaction, administrator, [rule])
    return {
      result: created as NonNullable<typeof created>,
      entry: { action: 'rule.created', subject: 'test' },
    }
  })
}

function change(harness: Harness, id: string, fields: object) {
  const { database, workspaceId } = harness
  const administrator = { database, workspaceId, actor: 'test' }
  return changeRules(administrator, async (transaction) => {
    const found = await transaction.rule.findUniqueOrThrow({ where: { id } })
    const [saved] = await saveRules(transaction, administrator, [{ found, fields }])
    return { result: saved?.rule, entry: { action: 'rule.updated' as const, subject: id } }
  })
}

/** As after an outage: its next tick was due so long ago (ms). */
async function makeDue(harness: Harness, id: string, ms: number): Promise<Date> {
  const due = new Date(Math.floor((await ago(harness, ms)).getTime() / minuteMs) * minuteMs)
  await harness.own.rule.update({
    where: { id },
    data: { nextRunAt: due, scheduledSince: new Date(due.getTime() - 1) },
  })
  return due
}

function readTicks({ own }: Harness, ruleId: string) {
  return own.event.findMany({ where: { addresseeId: ruleId }, orderBy: { id: 'asc' } })
}

type Tick = { data: unknown } | undefined

function dataOf(event: Tick): { scheduledAt: string; missed: number } {
  return (event?.data ?? {}) as { scheduledAt: string; missed: number }
}

/** When the first tick was due that an event of a schedule of a minute is about: another minute may have begun meanwhile. */
function firstTickOf(event: Tick): number {
  const { scheduledAt, missed } = dataOf(event)
  return Date.parse(scheduledAt) - missed * minuteMs
}

async function createQuiet(t: Test) {
  return createHarness(t, await onOwnDatabase())
}

t.test('a tick that is due runs its rule within seconds, with the sweeper alone', async (t) => {
  const harness = await createQuiet(t)
  const { id, nextRunAt } = await schedule(harness, { every: '1m' })
  t.equal(nextRunAt && nextRunAt.getTime() % minuteMs, 0)
  const due = await makeDue(harness, id, 0)
  harness.startWorker()
  harness.startSweeper()
  let tasks: { title: string; executionId: string }[] = []
  while (tasks.length === 0) {
    await setTimeout(50)
    tasks = await harness.own.task.findMany({ where: { ruleId: id } })
  }
  const [event] = await readTicks(harness, id)
  t.equal(event?.type, 'SCHEDULE')
  t.equal(firstTickOf(event), due.getTime())
  const { scheduledAt, missed } = dataOf(event)
  t.equal(tasks[0]?.title, `At ${scheduledAt.replace('Z', '+00:00')}, ${missed} missed`)
  t.not(tasks[0]?.executionId, event?.id, 'the execution was not requested by hand')
  const rule = await harness.own.rule.findUniqueOrThrow({ where: { id } })
  t.ok((rule.nextRunAt?.getTime() ?? 0) > Date.parse(scheduledAt))
  t.equal(rule.version, 1)
})

t.test('ten workers make a tick once', async (t) => {
  const harness = await createQuiet(t)
  const rules: { id: string }[] = []
  while (rules.length < 20) rules.push(await schedule(harness, await farFromNow(harness)))
  for (const { id } of rules) await makeDue(harness, id, 0)
  const counts = Array.from({ length: 10 }, async () => {
    let count = 0
    // As a sweep does: where computing takes long, it goes on.
    for (let isMore = true; isMore; ) {
      const made = await makeTicks(harness.database)
      count += made.events.length
      isMore = made.isMore
    }
    return count
  })
  t.equal(
    (await Promise.all(counts)).reduce((sum, count) => sum + count),
    rules.length,
  )
  for (const { id } of rules) t.equal((await readTicks(harness, id)).length, 1)
})

t.test('of several ticks that are due the newest runs and counts the others', async (t) => {
  const harness = await createQuiet(t)
  const { id } = await schedule(harness, { every: '1m' })
  const due = await makeDue(harness, id, 300 * minuteMs)
  let made = await makeTicks(harness.database)
  t.strictSame([made.events.length, made.isMore], [0, true], 'many are counted in parts')
  while (made.isMore) made = await makeTicks(harness.database)
  const [event, ...others] = await readTicks(harness, id)
  t.equal(firstTickOf(event), due.getTime())
  t.ok(dataOf(event).missed >= 300)
  t.equal(others.length, 0)
  t.match(await harness.own.rule.findUniqueOrThrow({ where: { id } }), { missedTicks: 0 })
})

t.test('with catchUp none, late ticks do not run, and the next one counts them', async (t) => {
  const harness = await createQuiet(t)
  const daily = await farFromNow(harness, { catchUp: 'none' })
  const { id, nextRunAt } = await schedule(harness, daily)
  const dayMs = 24 * 60 * minuteMs
  const missed = new Date((nextRunAt?.getTime() ?? 0) - 3 * dayMs)
  await harness.own.rule.update({ where: { id }, data: { nextRunAt: missed } })
  await makeTicks(harness.database)
  t.strictSame(await readTicks(harness, id), [])
  t.match(await harness.own.rule.findUniqueOrThrow({ where: { id } }), { missedTicks: 3, nextRunAt })
  await harness.own.rule.update({ where: { id }, data: { nextRunAt: await ago(harness, 0) } })
  await makeTicks(harness.database)
  const [event, ...others] = await readTicks(harness, id)
  t.match(event?.data, { missed: 3 })
  t.strictSame(others, [])
})

t.test(
  'a change of anything else leaves a tick that is due, and one of the schedule does not make one',
  async (t) => {
    const harness = await createQuiet(t)
    const { id } = await schedule(harness, { every: '1m' })
    const due = await makeDue(harness, id, 5 * minuteMs)
    const renamed = await change(harness, id, {
      name: 'Renamed',
      actions: [{ type: 'CREATE_TASK', config: { title: 'B' } }],
    })
    t.equal(renamed?.nextRunAt?.getTime(), due.getTime())
    const before = (await ago(harness, 0)).getTime()
    const changed = await change(harness, id, { schedule: await farFromNow(harness) })
    t.ok((changed?.nextRunAt?.getTime() ?? 0) > before, 'the next tick is later than the change')
    await makeTicks(harness.database)
    t.strictSame(await readTicks(harness, id), [])
  },
)

t.test('what was due while a rule was off is not missed', async (t) => {
  const harness = await createQuiet(t)
  const { id } = await schedule(harness, await farFromNow(harness))
  await makeDue(harness, id, 5 * minuteMs)
  const off = await change(harness, id, { isActive: false })
  t.equal(off?.nextRunAt, null)
  await makeTicks(harness.database)
  const on = await change(harness, id, { isActive: true })
  t.ok((on?.nextRunAt?.getTime() ?? 0) > (await ago(harness, 0)).getTime())
  await makeTicks(harness.database)
  t.strictSame(await readTicks(harness, id), [])
})

t.test('a tick whose rule is switched off before a worker takes it up does nothing', async (t) => {
  const harness = await createQuiet(t)
  const { id } = await schedule(harness, { every: '1m' })
  await makeDue(harness, id, 0)
  const { events } = await makeTicks(harness.database)
  await change(harness, id, { isActive: false })
  harness.startWorker()
  harness.startSweeper()
  await harness.untilDone(events[0]?.id ?? '')
  t.equal(await harness.own.task.count({ where: { ruleId: id } }), 0)
})

t.test('a tick whose rule has no schedule any more does nothing', async (t) => {
  const harness = await createQuiet(t)
  const { id } = await schedule(harness, { every: '1m' })
  await makeDue(harness, id, 0)
  const { events } = await makeTicks(harness.database)
  const other = { trigger: 'LEAD_CREATED', schedule: Prisma.DbNull, nextRunAt: null }
  await harness.own.rule.update({ where: { id }, data: other })
  harness.startWorker()
  harness.startSweeper()
  await harness.untilDone(events[0]?.id ?? '')
  t.equal(await harness.own.task.count({ where: { ruleId: id } }), 0)
})

t.test('a schedule that changes while its tick is computed does not run by the old one', async (t) => {
  const harness = await createQuiet(t)
  const { id } = await schedule(harness, { every: '1m' })
  await makeDue(harness, id, 0)
  const later = await farFromNow(harness)
  const run: Database['run'] = async (name, text, values) => {
    if (name === 'make_ticks') await change(harness, id, { schedule: later })
    return harness.database.run(name, text, values)
  }
  const { events } = await makeTicks({ run })
  t.strictSame(events, [])
  t.strictSame(await readTicks(harness, id), [])
  const { nextRunAt } = await harness.own.rule.findUniqueOrThrow({ where: { id } })
  t.ok((nextRunAt?.getTime() ?? 0) > (await ago(harness, 0)).getTime())
})

t.test('a rule that changes while its tick is computed has it made by the next call', async (t) => {
  const harness = await createQuiet(t)
  const { id } = await schedule(harness, { every: '1h' })
  const due = await makeDue(harness, id, 0)
  const run: Database['run'] = async (name, text, values) => {
    if (name === 'make_ticks') await change(harness, id, { name: 'Other' })
    return harness.database.run(name, text, values)
  }
  t.strictSame((await makeTicks({ run })).events, [])
  t.match(await harness.own.rule.findUniqueOrThrow({ where: { id } }), { version: 2, nextRunAt: due })
  t.match((await makeTicks(harness.database)).events, [{ addressee: { id } }])
})

t.test('a schedule that one process cannot read stays due for others, and is reported once', async (t) => {
  const harness = await createQuiet(t)
  const [faulty, sound] = [await schedule(harness, { every: '1m' }), await schedule(harness, { every: '1h' })]
  for (const { id } of [faulty, sound]) await makeDue(harness, id, 0)
  await harness.own.rule.update({
    where: { id: faulty.id },
    data: { schedule: { cron: '0 9 * * *', timezone: 'Mars/Base' } },
  })
  const made = await makeTicks(harness.database)
  t.match(made.faulty, [{ ruleId: faulty.id, fault: /Mars/ }])
  t.equal(made.events.length, 1)
  const nothing = { events: [], latenesses: [], faulty: [], isMore: false }
  t.strictSame(await makeTicks(harness.database, [faulty.id]), nothing)

  const lines: object[] = []
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) })
  const tick = createTicker(harness.database, harness.queue, log, createWorkerMetrics(openMetrics()))
  await tick(() => false)
  await tick(() => false)
  t.match(lines, [{ ruleId: faulty.id, msg: 'a schedule cannot be read; its tick stays due' }])
  t.equal(lines.length, 1)

  const { nextRunAt } = await harness.own.rule.findUniqueOrThrow({ where: { id: faulty.id } })
  await harness.own.rule.update({ where: { id: faulty.id }, data: { schedule: { every: '1m' } } })
  await makeTicks(harness.database)
  const [event] = await readTicks(harness, faulty.id)
  t.equal(firstTickOf(event), nextRunAt?.getTime())
})

t.test('the reconciliation finds a tick that was lost, and one that was made twice', async (t) => {
  const harness = await createQuiet(t)
  const { id } = await schedule(harness, { every: '1m' })
  const audit = async () => {
    const now = Date.now()
    const range = {
      workspaceId: harness.workspaceId,
      from: now - 3_600_000,
      to: now + 60_000,
      keptSince: 0,
      budgetMs: 60_000,
    }
    return (await auditLedger(harness.database, range)).faults
  }
  const due = await makeDue(harness, id, 9 * minuteMs)
  await harness.own.rule.update({ where: { id }, data: { nextRunAt: due } })
  const makeAt = async (minutes: number, missed: number) => {
    const at = due.getTime() + minutes * minuteMs
    const data = { scheduledAt: new Date(at).toISOString(), localTime: '', missed }
    const event = {
      ...harness.newRow(),
      id: tickIdOf(id, at, at),
      type: 'SCHEDULE',
      addresseeKind: 'tick' as const,
      addresseeId: id,
      data,
    }
    await harness.own.event.create({ data: event })
    return event.id
  }
  await makeAt(0, 0)
  await makeAt(1, 0)
  await makeAt(4, 2)
  t.strictSame(await audit(), [])
  const after = await makeAt(6, 0)
  t.strictSame(await audit(), [{ kind: 'tick_lost', count: 1, ids: [after] }])
})

t.test('the id of a tick follows from its rule and time, unless it is very late', async (t) => {
  const [rule, at] = [newId(), Date.UTC(2026, 0, 1, 9)]
  t.equal(tickIdOf(rule, at, at), tickIdOf(rule, at, at + 50 * minuteMs))
  t.not(tickIdOf(rule, at, at), tickIdOf(newId(), at, at))
  t.not(tickIdOf(rule, at, at), tickIdOf(rule, at + minuteMs, at))
})
