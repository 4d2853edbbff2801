import { setTimeout } from 'node:timers/promises'
import { newId } from '@automation/database'
import { replyChannel } from '@automation/queue'
import { Redis } from 'ioredis'
import t from 'tap'
import { createHarness } from './fixtures/harness.js'

const cases = [
  { statement: 'finish_events', action: { type: 'EMIT_EVENT', config: { eventType: 'DEAL_WON' } } },
  { statement: 'finish_successes', action: { type: 'CREATE_TASK', config: { title: 'Call' } } },
]

for (const { statement, action } of cases)
  t.test(`of two deliveries of an event, the slower one publishes nothing (${statement})`, async (t) => {
    const prefix = `{test-${newId()}}`
    const harness = await createHarness(t, { QUEUE_PREFIX: prefix })
    const { database, queue, own } = harness
    await harness.createRule([action])
    const subscriber = new Redis(process.env.REDIS_URL ?? '')
    t.teardown(() => subscriber.disconnect())
    const replied: string[] = []
    subscriber.on('message', (_channel, message) => {
      for (const { events } of JSON.parse(message)) for (const { id } of events) replied.push(id)
    })
    await subscriber.subscribe(replyChannel(prefix, 'api'))
    const added: string[] = []
    const { addCaused } = queue
    queue.addCaused = (events) => {
      added.push(...events.map(({ id }) => id))
      return addCaused(events)
    }

    const event = harness.newEvent()
    const { run } = database
    database.run = async (name, text, values) => {
      // The faster delivery used other rules, and none of them matched.
      if (name === statement)
        await own.event.updateMany({ where: { id: event.id, doneAt: null }, data: { doneAt: new Date() } })
      return run(name, text, values)
    }
    harness.startWorker()
    await harness.inbox.accept(event, 'api')
    // The event is restored after its job has ended.
    while (!(await queue.restore(event.id, [event]))) await setTimeout(20)
    const later = harness.newEvent('LEAD_DELETED')
    await harness.inbox.accept(later, 'api')
    while (!replied.includes(later.id)) await setTimeout(20)
    t.strictSame(replied, [later.id], 'the slower delivery sends no reply')
    t.strictSame(added, [], 'no job is added for an event that is not stored')
    t.equal(await own.execution.count(), 0)
    t.equal(await own.task.count(), 0)
  })
