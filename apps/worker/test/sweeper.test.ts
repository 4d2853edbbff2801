import { setTimeout } from 'node:timers/promises'
import { firstIdOf, newId } from '@automation/database'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import type { RestoringQueue } from '../src/repair/restore-jobs.js'
import { startSweeper } from '../src/repair/sweeper.js'
import { type House, openHouse } from './fixtures/house.js'

const maxPage = 500

/** A house on a database in which nothing else is left to do: a sweeper looks after all workspaces. */
async function openQuietHouse(t: Test): Promise<House> {
  const house = await openHouse(t)
  const { event, execution } = house.database.system
  await event.updateMany({ where: { doneAt: null }, data: { doneAt: new Date() } })
  await execution.updateMany({ where: { dueAt: { not: null } }, data: { dueAt: null } })
  return house
}

/** A sweeper over the real queue, which refuses some jobs, and what it has restored and logged. */
function startWatchedSweeper(t: Test, house: House, refuses: (id: string) => boolean = () => false) {
  const restored = new Set<string>()
  const lines: { msg: string; failed?: number; ended?: number; jobId?: string }[] = []
  const watched: RestoringQueue = {
    async restore(id, events) {
      if (refuses(id)) throw new Error('Redis refused the job')
      const isRestored = await house.queue.restore(id, events)
      if (isRestored) restored.add(id)
      return isRestored
    },
    async restoreDue(run) {
      if (refuses(run.executionId)) throw new Error('Redis refused the job')
      const isRestored = await house.queue.restoreDue(run)
      if (isRestored) restored.add(run.executionId)
      return isRestored
    },
  }
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) })
  const sweeper = startSweeper(house.database, watched, log)
  t.teardown(() => sweeper.stop())
  return { restored, lines }
}

const longAgo = new Date(Date.now() - 60_000)

/** Events that are not done and have no job. Returns their ids, the oldest first. */
async function storeEvents(house: House, count: number): Promise<string[]> {
  const events = Array.from({ length: count }, () => ({ ...house.newRow(), acceptedAt: longAgo }))
  await house.own.event.createMany({ data: events })
  return events.map(({ id }) => id)
}

async function storeExecutions(house: House, count: number, fields: object = {}): Promise<string[]> {
  const executions = Array.from({ length: count }, (_, index) => ({
    id: newId(),
    workspaceId: house.workspaceId,
    eventId: newId(),
    eventType: 'LEAD_CREATED',
    ruleId: newId(),
    ruleVersion: 1,
    status: 'waiting' as const,
    results: [],
    startedAt: longAgo,
    dueAt: new Date(longAgo.getTime() + index),
    ...fields,
  }))
  await house.own.execution.createMany({ data: executions })
  return executions.map(({ id }) => id)
}

async function untilRestored(restored: Set<string>, count: number): Promise<void> {
  while (restored.size < count) await setTimeout(20)
}

t.test('an event whose job cannot be restored hides no other, on its page or behind it', async (t) => {
  const house = await openQuietHouse(t)
  const ids = await storeEvents(house, 2 * maxPage + 100)
  const { restored, lines } = startWatchedSweeper(t, house, (id) => id === ids[3])
  await untilRestored(restored, ids.length - 1)
  t.notOk(restored.has(ids[3] ?? ''))
  while (!lines.some(({ failed }) => failed)) await setTimeout(20)
  t.match(lines.filter(({ failed }) => failed)[0], { failed: 1, jobId: ids[3], err: { message: /refused/ } })
  t.equal(lines.filter(({ msg }) => msg === 'sweep failed; the next sweep continues').length, 0)
})

t.test('an execution whose job cannot be restored hides no other', async (t) => {
  const house = await openQuietHouse(t)
  const ids = await storeExecutions(house, maxPage + 100)
  const { restored, lines } = startWatchedSweeper(t, house, (id) => id === ids[0] || id === ids[1])
  await untilRestored(restored, ids.length - 2)
  while (!lines.some(({ failed }) => failed)) await setTimeout(20)
  t.match(lines.filter(({ failed }) => failed)[0], { failed: 2, jobId: ids[0] })
})

t.test('a page of events whose jobs are queued does not hide the lost one behind them', async (t) => {
  const house = await openQuietHouse(t)
  const waiting = await storeEvents(house, maxPage + 10)
  for (const id of waiting) await house.queue.restore(id, [{ ...house.newEvent(), id }])
  const [lost = ''] = await storeEvents(house, 1)
  const { restored } = startWatchedSweeper(t, house)
  await untilRestored(restored, 1)
  t.strictSame([...restored], [lost])
})

t.test('a page of executions whose jobs are queued does not hide the lost one behind them', async (t) => {
  const house = await openQuietHouse(t)
  const waiting = await storeExecutions(house, maxPage + 10)
  const rows = await house.own.execution.findMany({ where: { id: { in: waiting } } })
  for (const { id: executionId, eventId, workspaceId, dueAt } of rows)
    await house.queue.restoreDue({ executionId, eventId, workspaceId, dueAt: dueAt ?? longAgo })
  const [lost = ''] = await storeExecutions(house, 1, { dueAt: new Date(longAgo.getTime() + 30_000) })
  const { restored } = startWatchedSweeper(t, house)
  await untilRestored(restored, 1)
  t.strictSame([...restored], [lost])
})

t.test('work of a removed workspace is ended once, and not restored for ever', async (t) => {
  const house = await openQuietHouse(t)
  const workspaceId = newId()
  const [event = ''] = await storeEvents(house, 1)
  await house.database.system.event.update({ where: { id: event }, data: { workspaceId } })
  const [execution = ''] = await storeExecutions(house, 1)
  await house.database.system.execution.update({ where: { id: execution }, data: { workspaceId } })
  const [own = ''] = await storeEvents(house, 1)
  const { restored, lines } = startWatchedSweeper(t, house)
  const gone = house.database.forWorkspace(workspaceId)
  while ((await gone.event.findUniqueOrThrow({ where: { id: event } })).doneAt === null) await setTimeout(20)
  while ((await gone.execution.findUniqueOrThrow({ where: { id: execution } })).dueAt !== null)
    await setTimeout(20)
  t.match(await gone.execution.findUnique({ where: { id: execution } }), {
    status: 'cancelled',
    error: 'The workspace was removed',
    finishedAt: Date,
    lease: null,
  })
  await untilRestored(restored, 1)
  t.strictSame([...restored], [own])
  t.match(
    lines.filter(({ ended }) => ended),
    [{ ended: 1, workspaceIds: [workspaceId] }, { ended: 1 }],
  )
})

t.test('an event that was accepted with an old id is found', async (t) => {
  const house = await openQuietHouse(t)
  const { restored } = startWatchedSweeper(t, house)
  const [first = ''] = await storeEvents(house, 1)
  await untilRestored(restored, 1)
  await house.own.event.update({ where: { id: first }, data: { doneAt: new Date() } })
  // Emitted while Postgres was away, or by a process whose clock is behind.
  const late = firstIdOf(Date.now() - 3 * 60 * 60 * 1_000)
  await house.own.event.create({ data: { ...house.newRow(), id: late, acceptedAt: longAgo } })
  await untilRestored(restored, 2)
  t.ok(restored.has(late))
  const [overdue = ''] = await storeExecutions(house, 1, { dueAt: new Date(0) })
  await untilRestored(restored, 3)
  t.ok(restored.has(overdue))
})
