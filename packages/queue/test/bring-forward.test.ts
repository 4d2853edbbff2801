import { newId } from '@automation/database'
import t from 'tap'
import { openQueue } from '../src/index.js'

const queue = openQueue(process.env.REDIS_URL ?? '', `{test-${newId()}}`)
t.before(async () => void (await queue.isReady(5_000)))
t.teardown(() => queue.close())

function due(inMs: number) {
  const dueAt = new Date(Date.now() + inMs)
  return { executionId: newId(), eventId: newId(), workspaceId: newId(), createdBy: null, dueAt }
}

t.test(
  'an execution that is due does not wait for a clock that was ahead when its job was added',
  async (t) => {
    const execution = due(600_000)
    await queue.addDue(execution)
    t.match(await queue.countJobs(), { delayed: 1, waiting: 0 })
    t.equal(await queue.restoreDue(execution), true)
    t.match(await queue.countJobs(), { delayed: 0 })
    t.equal(await queue.restoreDue(execution), false, 'once')
  },
)

t.test('a job that pauses for some seconds stays where it is', async (t) => {
  const execution = due(9_000)
  await queue.addDue(execution)
  t.equal(await queue.restoreDue(execution), false)
  t.match(await queue.countJobs(), { delayed: 1 })
})
