import { setTimeout } from 'node:timers/promises'
import { matchLists } from '@automation/assertions'
import { newId, openDatabase } from '@automation/database'
import { BatchingInbox, openQueue } from '@automation/queue'
import { Redis } from 'ioredis'
import t from 'tap'
import { startWorker } from '../src/worker.js'
import { databaseUrl, log, openHouse, testConfig } from './fixtures/house.js'

const task = { type: 'CREATE_TASK', config: { title: 'Task' } }

t.test('an event is run by all active rules of its type, in creation order, and by no other', async (t) => {
  const house = await openHouse(t)
  const first = await house.createRule([task])
  const inactive = await house.createRule([task])
  await house.own.rule.update({ where: { id: inactive }, data: { isActive: false } })
  await house.createRule([task], 'LEAD_DELETED')
  const second = await house.createRule([task])
  house.startWorker()
  const event = house.newEvent()
  await house.inbox.accept(event)
  t.same(await house.readConsidered(event.id), [first, second])
  t.equal(await house.own.task.count(), 2)
})

t.test('a rule that no longer compiles fails by itself', async (t) => {
  const house = await openHouse(t)
  const broken = await house.createRule([task])
  const conditions = [{ field: 'score', operator: 'from_a_later_version', value: 1 }]
  await house.own.rule.update({ where: { id: broken }, data: { conditions } })
  const sound = await house.createRule([task])
  house.startWorker()
  const event = house.newEvent()
  await house.inbox.accept(event)
  await house.untilDone(event.id)
  matchLists(t, await house.own.execution.findMany({ orderBy: { ruleId: 'asc' } }), [
    { ruleId: broken, status: 'failed', error: /does not compile/ },
    { ruleId: sound, status: 'succeeded' },
  ])
})

t.test(
  'executed by hand, the one rule runs, active or not; a rule that was deleted runs nothing',
  async (t) => {
    const house = await openHouse(t)
    await house.createRule([task])
    const asked = await house.createRule([task])
    await house.own.rule.update({ where: { id: asked }, data: { isActive: false } })
    house.startWorker()
    const event = house.newEvent('LEAD_CREATED', { kind: 'rule', id: asked })
    await house.inbox.accept(event)
    await house.untilDone(event.id)
    matchLists(t, await house.own.execution.findMany(), [{ id: event.id, ruleId: asked }])
    const orphan = house.newEvent('LEAD_CREATED', { kind: 'rule', id: newId() })
    await house.inbox.accept(orphan)
    t.same(await house.readConsidered(orphan.id), [])
  },
)

t.test('a job that is delivered after its event is done has no effect', async (t) => {
  const house = await openHouse(t)
  await house.createRule([task])
  house.startWorker()
  const event = house.newEvent()
  await house.inbox.accept(event)
  const { doneAt } = await house.untilDone(event.id)
  // The event is restored as soon as BullMQ has finished the job, too.
  while (!(await house.queue.restore(event.id, [event]))) await setTimeout(20)
  const later = house.newEvent()
  await house.inbox.accept(later)
  await house.untilDone(later.id)
  t.same((await house.own.event.findUniqueOrThrow({ where: { id: event.id } })).doneAt, doneAt)
  t.equal(await house.own.task.count(), 2, 'one for each event')
})

t.test('the sweeper restores an event whose job was never added, or was lost', async (t) => {
  const house = await openHouse(t)
  const forgotten = house.newRow()
  await house.own.event.create({ data: forgotten })
  house.startWorker()
  house.startSweeper()
  t.ok((await house.untilDone(forgotten.id)).doneAt)
})

t.test(
  'events that are accepted together travel in one job, and those it lost are put back with it',
  async (t) => {
    const house = await openHouse(t)
    await house.createRule([task])
    const events = Array.from({ length: 60 }, () => house.newEvent())
    await Promise.all(events.map((event) => house.inbox.accept(event)))
    await house.inbox.close()
    const rows = await house.own.event.findMany({ orderBy: { id: 'asc' } })
    const jobs = rows.map(({ id, jobId }) => jobId ?? id)
    t.same(new Set(jobs), new Set([events[0]?.id, events[50]?.id]), 'no more than 50 a job')
    t.notOk(await house.queue.restore(jobs[0] ?? '', events.slice(0, 50)), 'it is on its way')

    await house.forget()
    house.startWorker()
    house.startSweeper()
    for (const { id } of events) await house.untilDone(id)
    t.equal(await house.own.task.count(), 60)
  },
)

t.test('a queued job is not restored a second time', async (t) => {
  const house = await openHouse(t)
  const event = house.newEvent()
  await house.inbox.accept(event)
  await house.inbox.close()
  t.notOk(await house.queue.restore(event.id, [event]), 'it waits')
  house.startWorker()
  await house.untilDone(event.id)
})

t.test(
  'an event that two workers are known to have ended with is run once more, alone, and then never',
  async (t) => {
    const house = await openHouse(t)
    await house.createRule([task])
    const leave = async (crashes: number) => {
      const event = house.newRow()
      await house.own.event.create({ data: { ...event, crashes } })
      return event.id
    }
    const [suspect, poison] = [await leave(1), await leave(2)]
    house.startWorker()
    house.startSweeper()
    t.match(await house.untilDone(suspect), { crashes: 2, quarantined: false })
    t.match(await house.untilDone(poison), { crashes: 3, quarantined: true, ruleSetId: null })
    t.match(await house.own.task.count(), 1, 'what is quarantined does nothing')
  },
)

t.test('events are accepted while the queue is away', async (t) => {
  const house = await openHouse(t)
  const nowhere = openQueue('redis://127.0.0.1:1', '{nowhere}')
  t.teardown(() => nowhere.close())
  t.notOk(await nowhere.isReady(50))
  const database = openDatabase(databaseUrl, 1)
  t.teardown(() => database.close())
  const event = house.newEvent()
  await new BatchingInbox(database, nowhere).accept(event)
  t.match(await house.own.event.findUnique({ where: { id: event.id } }), { doneAt: null, data: {} })
})

t.test('a worker that never reached Redis ends on request', async (t) => {
  const database = openDatabase(databaseUrl, 1)
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
  await t.resolves(queue.addAlone({ id: newId(), workspaceId: newId(), addressee: null }))
})
