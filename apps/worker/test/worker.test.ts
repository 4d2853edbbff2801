import { setTimeout } from 'node:timers/promises'
import { newId, openPatiently } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import { BatchingInbox, openQueue } from '@automation/queue'
import { Redis } from 'ioredis'
import t from 'tap'
import { startWorker } from '../src/worker.js'
import { createHarness, databaseUrl, log, testConfig } from './fixtures/harness.js'

const task = { type: 'CREATE_TASK', config: { title: 'Task' } }

t.test('all active rules of its type run for an event, in creation order, and no others', async (t) => {
  const harness = await createHarness(t)
  const first = await harness.createRule([task])
  const inactive = await harness.createRule([task])
  await harness.own.rule.update({ where: { id: inactive }, data: { isActive: false } })
  await harness.createRule([task], 'LEAD_DELETED')
  const second = await harness.createRule([task])
  harness.startWorker()
  const event = harness.newEvent()
  await harness.inbox.accept(event)
  t.same(await harness.readConsidered(event.id), [first, second])
  t.equal(await harness.own.task.count(), 2)
})

t.test('a rule that no longer compiles fails alone', async (t) => {
  const harness = await createHarness(t)
  const broken = await harness.createRule([task])
  const conditions = [{ field: 'score', operator: 'from_a_later_version', value: 1 }]
  await harness.own.rule.update({ where: { id: broken }, data: { conditions } })
  const sound = await harness.createRule([task])
  harness.startWorker()
  const event = harness.newEvent()
  await harness.inbox.accept(event)
  await harness.untilDone(event.id)
  matchLists(t, await harness.own.execution.findMany({ orderBy: { handlerId: 'asc' } }), [
    { handlerId: broken, status: 'failed', error: /does not compile/ },
    { handlerId: sound, status: 'succeeded' },
  ])
})

t.test(
  'executed by hand, the one rule runs, active or not; a rule that was deleted runs nothing',
  async (t) => {
    const harness = await createHarness(t)
    await harness.createRule([task])
    const asked = await harness.createRule([task])
    await harness.own.rule.update({ where: { id: asked }, data: { isActive: false } })
    harness.startWorker()
    const event = harness.newEvent('LEAD_CREATED', { kind: 'rule', id: asked })
    await harness.inbox.accept(event)
    await harness.untilDone(event.id)
    matchLists(t, await harness.own.execution.findMany(), [{ id: event.id, handlerId: asked }])
    const orphan = harness.newEvent('LEAD_CREATED', { kind: 'rule', id: newId() })
    await harness.inbox.accept(orphan)
    t.same(await harness.readConsidered(orphan.id), [])
  },
)

t.test('a job that is delivered after its event is done has no effect', async (t) => {
  const harness = await createHarness(t)
  await harness.createRule([task])
  harness.startWorker()
  const event = harness.newEvent()
  await harness.inbox.accept(event)
  const { doneAt } = await harness.untilDone(event.id)
  // The event is restored as soon as BullMQ has finished the job, too.
  while (!(await harness.queue.restore(event.id, [event]))) await setTimeout(20)
  const later = harness.newEvent()
  await harness.inbox.accept(later)
  await harness.untilDone(later.id)
  t.same((await harness.own.event.findUniqueOrThrow({ where: { id: event.id } })).doneAt, doneAt)
  t.equal(await harness.own.task.count(), 2, 'one for each event')
})

t.test('the sweeper restores an event whose job was never added, or was lost', async (t) => {
  const harness = await createHarness(t)
  const forgotten = harness.newRow()
  await harness.own.event.create({ data: forgotten })
  harness.startWorker()
  harness.startSweeper()
  t.ok((await harness.untilDone(forgotten.id)).doneAt)
})

t.test('events that are accepted together share a job, and are restored together', async (t) => {
  const harness = await createHarness(t)
  await harness.createRule([task])
  const events = Array.from({ length: 120 }, () => harness.newEvent())
  await Promise.all(events.map((event) => harness.inbox.accept(event)))
  await harness.inbox.close()
  const rows = await harness.own.event.findMany({ orderBy: { id: 'asc' } })
  const jobs = rows.map(({ id, jobId }) => jobId ?? id)
  t.same(new Set(jobs), new Set([events[0]?.id, events[100]?.id]), 'at most 100 in a job')
  t.notOk(await harness.queue.restore(jobs[0] ?? '', events.slice(0, 100)), 'its job exists')

  await harness.forget()
  harness.startWorker()
  harness.startSweeper()
  for (const { id } of events) await harness.untilDone(id)
  t.equal(await harness.own.task.count(), 120)
})

t.test('a queued job is not restored a second time', async (t) => {
  const harness = await createHarness(t)
  const event = harness.newEvent()
  await harness.inbox.accept(event)
  await harness.inbox.close()
  t.notOk(await harness.queue.restore(event.id, [event]), 'its job waits')
  harness.startWorker()
  await harness.untilDone(event.id)
})

t.test('an event that four workers are known to have ended with is not run again', async (t) => {
  const harness = await createHarness(t)
  await harness.createRule([task])
  const leave = async (crashes: number) => {
    const event = harness.newRow()
    await harness.own.event.create({ data: { ...event, crashes } })
    return event.id
  }
  const [suspect, poison] = [await leave(3), await leave(4)]
  harness.startWorker()
  harness.startSweeper()
  t.match(await harness.untilDone(suspect), { crashes: 4, quarantined: false })
  t.match(await harness.untilDone(poison), { crashes: 5, quarantined: true, ruleSetId: null })
  t.match(await harness.own.task.count(), 1, 'what is quarantined does nothing')
})

t.test('events are accepted while the queue is away', async (t) => {
  const harness = await createHarness(t)
  const nowhere = openQueue('redis://127.0.0.1:1', '{nowhere}')
  t.teardown(() => nowhere.close())
  t.notOk(await nowhere.isReady(50))
  const database = openPatiently(databaseUrl, 1)
  t.teardown(() => database.close())
  const event = harness.newEvent()
  await new BatchingInbox(database, nowhere).accept(event)
  t.match(await harness.own.event.findUnique({ where: { id: event.id } }), { doneAt: null, data: {} })
})

t.test('a worker that never reached Redis ends on request', async (t) => {
  const database = openPatiently(databaseUrl, 1)
  t.teardown(() => database.close())
  const config = testConfig({ REDIS_URL: 'redis://127.0.0.1:1' })
  const queue = openQueue(config.redisUrl, config.queuePrefix)
  t.teardown(() => queue.close())
  await t.resolves(startWorker(config, database, queue, log).close())
})

t.test('a queue that could not reach Redis at the start opens once Redis responds', async (t) => {
  const redisUrl = process.env.REDIS_URL ?? ''
  const admin = new Redis(redisUrl)
  const user = `user-${newId()}`
  await admin.call('ACL', 'SETUSER', user, 'on', '>secret', '~*', '&*', '+@all', '-info')
  const url = new URL(redisUrl)
  url.username = user
  url.password = 'secret'
  const queue = openQueue(url.href, `{test-${newId()}}`)
  t.teardown(async () => {
    await queue.close()
    await admin.call('ACL', 'DELUSER', user)
    admin.disconnect()
  })
  t.notOk(await queue.isReady(500))
  await admin.call('ACL', 'SETUSER', user, '+info')
  t.ok(await queue.isReady(10_000))
  await t.resolves(queue.addCaused([{ id: newId(), workspaceId: newId(), addressee: null }]))
})
