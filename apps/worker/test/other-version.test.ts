import { firstIdOf } from '@automation/database'
import { queueName } from '@automation/queue'
import { Queue } from 'bullmq'
import t from 'tap'
import { createHarness, testConfig } from './fixtures/harness.js'

t.test('an event whose job was added by a process of another version is run', async (t) => {
  const { redisUrl, queuePrefix } = testConfig()
  const harness = await createHarness(t, { QUEUE_PREFIX: queuePrefix })
  const bullQueue = new Queue(queueName, {
    prefix: queuePrefix,
    connection: { url: redisUrl },
  })
  t.teardown(() => bullQueue.close())
  const longAgo = new Date(Date.now() - 10_000)
  const event = { ...harness.newRow(), id: firstIdOf(longAgo.getTime()), acceptedAt: longAgo }
  await harness.own.event.create({ data: event })
  const foreign = { eventId: event.id, workspaceId: harness.workspaceId, version: 'as it once was' }
  await bullQueue.add('trigger', foreign, { jobId: event.id, attempts: 2 })
  harness.startWorker()
  while ((await bullQueue.getJobState(event.id)) !== 'failed') await new Promise(setImmediate)
  t.match(await bullQueue.getJob(event.id), { failedReason: 'Not a job of this service' }, 'it is refused')
  t.match(await harness.own.event.findUniqueOrThrow({ where: { id: event.id } }), { doneAt: null })
  harness.startSweeper()
  t.match(await harness.untilDone(event.id), { doneAt: Date })
})
