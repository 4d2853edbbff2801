import { setTimeout } from 'node:timers/promises'
import { newId } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import { createHistoryRemoval, dayMs, type ExecutionStatus } from '@automation/ledger'
import t from 'tap'
import { removeGently } from '../src/retention/remove-gently.js'
import { aged, createWorkspace, database, now, openOldRows } from './fixtures/old-rows.js'

await openOldRows(t)

function removeHistory(days = 30, at = now): Promise<{ history: number }> {
  return removeGently(database, { history: createHistoryRemoval(at, days) }, new AbortController().signal)
}

t.test("finished events and their executions are removed after the workspace's retention", async (t) => {
  const usual = await createWorkspace()
  const short = await createWorkspace(1)
  const long = await createWorkspace(90)
  for (const { store } of [usual, short, long]) {
    await store(91, ['succeeded', 'failed', 'cancelled'])
    await store(31, ['succeeded', 'succeeded'])
    await store(30.05)
  }
  // Idempotency keys are kept for a day by another clock, so an hour is added.
  const kept = {
    usual: [await usual.store(30.04, ['succeeded']), await usual.store(0)],
    short: [await short.store(1.04, ['succeeded']), await short.store(0)],
    long: (await long.left()).events.slice(1),
  }
  t.match(await removeHistory(), { history: 4 + 8 + 8 })
  t.same(await usual.left(), { events: kept.usual, executions: 1 })
  t.same(await short.left(), { events: kept.short, executions: 1 })
  t.same(await long.left(), { events: kept.long, executions: 2 })
})

t.test('if the service keeps history for ever, only the retention of a workspace removes it', async (t) => {
  const usual = await createWorkspace()
  const short = await createWorkspace(7)
  await usual.store(3_000, ['succeeded'])
  await short.store(8, ['succeeded'])
  t.match(await removeHistory(0), { history: 2 })
  t.match(await usual.left(), { executions: 1 })
  matchLists(t, await short.left(), { events: [], executions: 0 })
  t.match(await removeHistory(), { history: 2 })
})

t.test('an event stays with all its executions until each of them is finished', async (t) => {
  const { store, left } = await createWorkspace()
  await store(300, ['succeeded', 'failed'])
  const kept = [
    await store(200, [], { doneAt: null }),
    await store(199, ['succeeded', 'waiting', 'failed']),
    await store(198, ['retrying']),
    await store(197, ['running', 'cancelled']),
  ]
  await store(196, ['cancelled'])
  t.match(await removeHistory(), { history: 3 + 2 })
  t.same(await left(), { events: kept, executions: 6 })
  t.match(await removeHistory(), { history: 0 })
})

t.test('retention counts from the end of an execution', async (t) => {
  const { own, store, left } = await createWorkspace()
  const matchedNone = await store(61, [], {}, 29)
  const doneLate = await store(60, ['succeeded'], {}, 29)
  const waitedLong = await store(50, ['succeeded', 'succeeded'])
  const [run] = await own.execution.findMany({ where: { eventId: waitedLong } })
  const finish = (days: number) =>
    own.execution.update({ where: { id: run?.id ?? '' }, data: { finishedAt: new Date(now - days * dayMs) } })
  await finish(30)
  await store(49, ['succeeded'])
  t.match(await removeHistory(), { history: 2 })
  t.same(await left(), { events: [matchedNone, doneLate, waitedLong], executions: 3 })
  await finish(30.05)
  t.match(await removeHistory(), { history: 3 })
  await removeHistory(30, now + 2 * dayMs)
  t.same(await left(), { events: [], executions: 0 })
})

t.test('any number of events of one time are removed, and their neighbours stay', async (t) => {
  const { store, left } = await createWorkspace()
  const other = await createWorkspace(90)
  const wide = Array<ExecutionStatus>(1_500).fill('succeeded')
  const first = await store(60, wide)
  const at = first.slice(0, 13)
  const sameTime = () => at + newId().slice(13)
  for (let index = 0; index < 20; index++) await store(60, ['succeeded', 'failed'], { id: sameTime() })
  const waiting = await store(60, ['waiting'], { id: sameTime() })
  const others = await other.store(60, ['succeeded'], { id: sameTime() })
  for (let days = 59; days > 31; days--) await store(days, ['succeeded'])
  const byHand = await store(50, [], { addresseeKind: 'rule', addresseeId: newId() })
  await removeHistory()
  t.same(await left(), { events: [waiting], executions: 1 })
  t.same(await other.left(), { events: [others], executions: 1 })
  t.notOk((await left()).events.includes(byHand))
})

t.test('a concurrent retry of an execution keeps its event', async (t) => {
  const { id, store, left, own } = await createWorkspace()
  const event = await store(60, ['failed', 'succeeded'])
  let removing: Promise<unknown> | undefined
  // Under the lock of the workspace, as a retry (changeWorkspace).
  await own.$transaction(async (transaction) => {
    await transaction.$queryRaw`SELECT 1 FROM workspaces WHERE id = ${id}::uuid FOR NO KEY UPDATE`
    removing = removeHistory()
    await Promise.race([untilOneWaits(), removing])
    await transaction.execution.updateMany({
      where: { status: 'failed' },
      data: { status: 'retrying', finishedAt: null, dueAt: new Date(now) },
    })
  })
  await removing
  t.same(await left(), { events: [event], executions: 2 })
})

t.test('only one worker removes history at a time', async (t) => {
  const { store, left } = await createWorkspace()
  for (let days = 100; days > 40; days--) await store(days, ['succeeded', 'succeeded'])
  const rounds = await Promise.all([1, 2, 3].map(() => removeHistory()))
  const counts = rounds.map(({ history }) => history)
  t.equal(
    counts.reduce((sum, count) => sum + count, 0),
    180,
  )
  matchLists(t, await left(), { events: [], executions: 0 })
  await database.system.$transaction(async (transaction) => {
    await transaction.$queryRaw`SELECT pg_try_advisory_xact_lock(7701202612) AS taken`
    await store(100)
    t.match(await removeHistory(), { history: 0 })
  })
  t.match(await removeHistory(), { history: 1 })
})

t.test('tasks, counters and the audit log stay', async (t) => {
  const { id: workspaceId, own, store } = await createWorkspace()
  const rule = {
    workspaceId,
    name: 'Rule',
    description: '',
    trigger: 'LEAD_CREATED',
    conditions: [],
    actions: [],
  }
  const ruleId = newId()
  const counters = { create: { workspaceId, successCount: 2, failureCount: 1 } }
  await own.rule.create({ data: { ...rule, id: ruleId, isActive: true, counters } })
  const executionId = await store(60, ['succeeded'])
  await own.task.create({
    data: {
      id: aged(60),
      workspaceId,
      executionId,
      actionIndex: 0,
      ruleId,
      title: 'Call',
      priority: 'normal',
      createdAt: new Date(now - 60 * dayMs),
    },
  })
  await own.auditEntry.create({
    data: {
      id: aged(60),
      workspaceId,
      actor: 'cli:test',
      action: 'rule.created',
      subject: ruleId,
      details: {},
    },
  })
  t.match(await removeHistory(), { history: 2 })
  t.equal(await own.task.count(), 1)
  t.equal(await own.auditEntry.count(), 1)
  matchLists(t, await own.ruleCounters.findMany(), [{ successCount: 2, failureCount: 1 }])
})

/** Waits until a transaction of this database waits for a lock. */
async function untilOneWaits(): Promise<void> {
  for (;;) {
    const waiting = await database.system.$queryRaw<object[]>`
      SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    if (waiting.length > 0) return
    await setTimeout(10)
  }
}
