import { firstIdOf } from '@automation/database'
import { queueName } from '@automation/queue'
import { Queue } from 'bullmq'
import t from 'tap'
import { createHarness, testConfig } from './fixtures/harness.js'

t.test('an event whose job was added by a process of another version is run', async (t) => {
  const { redisUrl, queuePrefix } = testConfig()
  const harness = await createHarness(t, { QUEUE_PREFIX: queuePrefix })
  const { hostname, port } = new URL(redisUrl)
  const bullQueue = new Queue(queueName, {
    prefix: queuePrefix,
    connection: { host: hostname, port: Number(port) },
  })
  t.teardown(() => bullQueue.close())
  const longAgo = new Date(Date.now() - 10_000)
  const event = { ...house.newRow(), id: firstIdOf(longAgo.getTime()), acceptedAt: longAgo }
  await house.own.event.create({ data: event })
  const foreign = { eventId: event.id, workspaceId: house.workspaceId, version: 'as it once was' }
  await belt.add('trigger', foreign, { jobId: event.id, attempts: 2 })
  house.startWorker()
  while ((await belt.getJobState(event.id)) !== 'failed') await new Promise(setImmediate)
  t.match(await belt.getJob(event.id), { failedReason: 'Not a job of this service' }, 'it is refused')
  t.match(await house.own.event.findUniqueOrThrow({ where: { id: event.id } }), { doneAt: null })
  house.startSweeper()
  t.match(await house.untilDone(event.id), { doneAt: Date })
})
