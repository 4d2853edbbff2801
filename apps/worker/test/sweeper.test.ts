import { setTimeout } from 'node:timers/promises'
import { type Database, firstIdOf, newId, readClock } from '@automation/database'
import { walkEvents, walkExecutions } from '@automation/ledger'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { OutageGrace } from '../src/repair/outage-grace.js'
import type { RestoringQueue } from '../src/repair/restore-jobs.js'
import { startSweeper } from '../src/repair/sweeper.js'
import { createHarness, type Harness, onOwnDatabase } from './fixtures/harness.js'

const maxPage = 500

/** A sweeper handles all workspaces, and makes the ticks of all schedules. */
async function createQuietHarness(t: Test): Promise<Harness> {
  return createHarness(t, await onOwnDatabase())
}

/** A sweeper on a queue that refuses some jobs, with the restored jobs and the log. */
function startWatchedSweeper(
  t: Test,
  harness: Harness,
  refuses: (id: string) => boolean = () => false,
  grace?: OutageGrace,
) {
  const restored = new Set<string>()
  const lines: { msg: string; failed?: number; ended?: number; jobId?: string }[] = []
  // A response of Redis that came too late: the next attempt finds the job.
  const uncertain = new Set<string>()
  const watch = async (id: string, restore: () => Promise<boolean>) => {
    if (refuses(id)) throw new Error('Redis refused the job')
    const isRestored = await restore().catch((error) => {
      uncertain.add(id)
      throw error
    })
    if (isRestored || uncertain.has(id)) restored.add(id)
    return isRestored
  }
  const watched: RestoringQueue = {
    restore: (id, events) => watch(id, () => harness.queue.restore(id, events)),
    restoreDue: (run) => watch(run.executionId, () => harness.queue.restoreDue(run)),
  }
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) })
  const sweeper = startSweeper(harness.database, watched, log, undefined, { grace })
  t.teardown(() => sweeper.stop())
  return { restored, lines }
}

const longAgo = new Date(Date.now() - 60_000)

/** Events that are not done and have no job. Returns their ids, the oldest first. */
async function storeEvents(harness: Harness, count: number): Promise<string[]> {
  const events = Array.from({ length: count }, () => ({ ...harness.newRow(), acceptedAt: longAgo }))
  await harness.own.event.createMany({ data: events })
  return events.map(({ id }) => id)
}

async function storeExecutions(harness: Harness, count: number, fields: object = {}): Promise<string[]> {
  const executions = Array.from({ length: count }, (_, index) => ({
    id: newId(),
    workspaceId: harness.workspaceId,
    eventId: newId(),
    eventType: 'LEAD_CREATED',
    handlerId: newId(),
    ruleVersion: 1,
    status: 'waiting' as const,
    results: [],
    startedAt: longAgo,
    dueAt: new Date(longAgo.getTime() + index),
    ...fields,
  }))
  await harness.own.execution.createMany({ data: executions })
  return executions.map(({ id }) => id)
}

async function untilRestored(restored: Set<string>, count: number): Promise<void> {
  while (restored.size < count) await setTimeout(20)
}

t.test('an event whose job cannot be restored hides no other, on its page or on later ones', async (t) => {
  const harness = await createQuietHarness(t)
  const ids = await storeEvents(harness, 2 * maxPage + 100)
  const { restored, lines } = startWatchedSweeper(t, harness, (id) => id === ids[3])
  await untilRestored(restored, ids.length - 1)
  t.notOk(restored.has(ids[3] ?? ''))
  while (!lines.some(({ failed }) => failed)) await setTimeout(20)
  t.match(lines.filter(({ failed }) => failed)[0], { failed: 1, jobId: ids[3], err: { message: /refused/ } })
  t.equal(lines.filter(({ msg }) => msg === 'sweep failed; the next sweep continues').length, 0)
})

t.test('jobs are restored while ticks of schedules take long', async (t) => {
  const harness = await createQuietHarness(t)
  const ids = await storeEvents(harness, 3)
  let free = () => {}
  const isFree = new Promise<void>((resolve) => {
    free = resolve
  })
  const run: Database['run'] = async (name, text, values) => {
    if (name === 'find_due_schedules') await isFree
    return harness.database.run(name, text, values)
  }
  const { restored } = startWatchedSweeper(t, { ...harness, database: { ...harness.database, run } })
  await untilRestored(restored, ids.length)
  free()
})

t.test('an execution whose job cannot be restored hides no other', async (t) => {
  const harness = await createQuietHarness(t)
  const ids = await storeExecutions(harness, maxPage + 100)
  const { restored, lines } = startWatchedSweeper(t, harness, (id) => id === ids[0] || id === ids[1])
  await untilRestored(restored, ids.length - 2)
  while (!lines.some(({ failed }) => failed)) await setTimeout(20)
  t.match(lines.filter(({ failed }) => failed)[0], { failed: 2, jobId: ids[0] })
})

t.test(
  'an execution that fell due while Postgres was unavailable is left to its holder for a while',
  async (t) => {
    const harness = await createQuietHarness(t)
    const [before] = await storeExecutions(harness, 1)
    const [meanwhile] = await storeExecutions(harness, 1, { dueAt: new Date(Date.now() - 10_000) })
    let at = 0
    const grace = new OutageGrace(() => at)
    at = 30_000
    const { restored } = startWatchedSweeper(t, harness, undefined, grace)
    await untilRestored(restored, 1)
    // A sweep restores a whole page: one more would have restored both.
    const [later] = await storeExecutions(harness, 1)
    await untilRestored(restored, 2)
    t.strictSame([...restored].sort(), [before, later].sort())
    at = 38_000
    await untilRestored(restored, 3)
    t.ok(restored.has(meanwhile ?? ''))
  },
)

t.test('a page of events with jobs does not hide an event without a job on the next page', async (t) => {
  const harness = await createQuietHarness(t)
  const waiting = await storeEvents(harness, maxPage + 10)
  for (const id of waiting) await harness.queue.restore(id, [{ ...harness.newEvent(), id }])
  const [lost = ''] = await storeEvents(harness, 1)
  const { restored } = startWatchedSweeper(t, harness)
  await untilRestored(restored, 1)
  t.strictSame([...restored], [lost])
})

t.test('a page of executions with jobs does not hide one without a job on the next page', async (t) => {
  const harness = await createQuietHarness(t)
  const waiting = await storeExecutions(harness, maxPage + 10)
  const rows = await harness.own.execution.findMany({ where: { id: { in: waiting } } })
  for (const { id: executionId, eventId, workspaceId, dueAt } of rows)
    await harness.queue.restoreDue({
      executionId,
      eventId,
      workspaceId,
      createdBy: null,
      dueAt: dueAt ?? longAgo,
    })
  const [lost = ''] = await storeExecutions(harness, 1, { dueAt: new Date(longAgo.getTime() + 30_000) })
  const { restored } = startWatchedSweeper(t, harness)
  await untilRestored(restored, 1)
  t.strictSame([...restored], [lost])
})

t.test(
  'the first sweep of a backlog of one workspace finds what has just become due in another',
  async (t) => {
    const harness = await createQuietHarness(t)
    const { database, workspaceId } = harness
    // More than a sweep reads.
    const backlog = 15_000
    const old = longAgo.getTime()
    await database.run(
      'store_backlog',
      `WITH new AS (
       INSERT INTO events (id, workspace_id, type, data, accepted_at)
       SELECT (lpad(to_hex($2::bigint), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid, $1::uuid, 'LEAD_CREATED', '{}',
              to_timestamp($2::float8 / 1000)
       FROM generate_series(1, ${backlog}) AS n
       RETURNING *
     )
     INSERT INTO executions (id, workspace_id, event_id, event_type, handler_id, rule_version, status, results, started_at, due_at)
     SELECT id, workspace_id, id, type, workspace_id, 1, 'waiting', '[]', accepted_at, accepted_at FROM new`,
      [workspaceId, old],
    )
    const other = newId()
    await database.system.workspace.create({ data: { id: other, name: 'Other' } })
    const recent = new Date(Date.now() - 5_000)
    const event = { ...harness.newRow(), id: firstIdOf(recent.getTime()), workspaceId: other }
    await database.system.event.create({ data: { ...event, acceptedAt: recent } })
    const [execution = ''] = await storeExecutions(harness, 1, { workspaceId: other, dueAt: recent })

    const expected = [
      [walkEvents(database), event.id],
      [walkExecutions(database), execution],
    ] as const
    for (const [walk, id] of expected)
      for (const sweep of ['the first', 'the second']) {
        const ids: string[] = []
        for await (const page of walk.pages(await readClock(database))) ids.push(...page.map((row) => row.id))
        t.ok(ids.includes(id), `${sweep} sweep`)
        t.ok(ids.length < backlog, 'which is not the whole backlog')
      }
  },
)

t.test('an event that was accepted with an old id is found', async (t) => {
  const harness = await createQuietHarness(t)
  const { restored } = startWatchedSweeper(t, harness)
  const [first = ''] = await storeEvents(harness, 1)
  await untilRestored(restored, 1)
  await harness.own.event.update({ where: { id: first }, data: { doneAt: new Date() } })
  // Emitted while Postgres was away, or by a process whose clock is slow.
  const late = firstIdOf(Date.now() - 3 * 60 * 60 * 1_000)
  await harness.own.event.create({ data: { ...harness.newRow(), id: late, acceptedAt: longAgo } })
  await untilRestored(restored, 2)
  t.ok(restored.has(late))
  const [overdue = ''] = await storeExecutions(harness, 1, { dueAt: new Date(0) })
  await untilRestored(restored, 3)
  t.ok(restored.has(overdue))
})

t.test(
  'a sweep that finds a job in the queue does not count it for the share of its workspace',
  async (t) => {
    const { queue, newEvent } = await createHarness(t)
    const event = newEvent()
    t.equal(await queue.restore(event.id, [event]), true)
    for (let sweep = 0; sweep < 250; sweep++) await queue.restore(event.id, [event])
    const [job] = queue.share([{ event: newEvent(), replyTo: undefined }])
    t.equal(job?.priority, 0)
  },
)

t.test('a sweep reads who created the workspace of what it restores', async (t) => {
  const harness = await createQuietHarness(t)
  await harness.own.workspace.updateMany({ data: { createdBy: 'user:ada' } })
  const [eventId] = await storeEvents(harness, 1)
  const [executionId] = await storeExecutions(harness, 1)
  const owners = new Map<string, string | null | undefined>()
  const queue: RestoringQueue = {
    async restore(id, [event]) {
      owners.set(id, event?.createdBy)
      return true
    },
    async restoreDue(due) {
      owners.set(due.executionId, due.createdBy)
      return true
    },
  }
  const sweeper = startSweeper(harness.database, queue, pino({ level: 'silent' }))
  t.teardown(() => sweeper.stop())
  while (owners.size < 2) await setTimeout(20)
  t.strictSame(owners, new Map([eventId, executionId].map((id) => [id as string, 'user:ada'])))
})
