import { setTimeout } from 'node:timers/promises'
import { newId } from '@automation/database'
import t, { type Test } from 'tap'
import { createHarness } from './fixtures/harness.js'

const task = { type: 'CREATE_TASK', config: { title: 'Task' } }
const burst = 40
/** Long enough for all that may begin beside a commit. */
const commitMs = 300

/** A worker whose commits are slow. */
async function openSlowCommits(t: Test) {
  const harness = await createHarness(t)
  await harness.createRule([task])
  const { run } = harness.database
  const commits: { begunAt: number; events: number }[] = []
  harness.database.run = async (name, text, values) => {
    if (name === 'finish_successes') {
      commits.push({ begunAt: performance.now(), events: JSON.parse(values[2] as string).length })
      await setTimeout(commitMs)
    }
    return run(name, text, values)
  }
  const post = async (count: number, workspaceId = harness.workspaceId) => {
    const events = Array.from({ length: count }, () => ({ ...harness.newEvent(), workspaceId }))
    await Promise.all(events.map((event) => harness.inbox.accept(event)))
    return events.map(({ id }) => id)
  }
  /** @returns the most events that were under way in commits at a time */
  const findMost = () => {
    const during = (ms: number) => commits.filter(({ begunAt }) => begunAt <= ms && ms < begunAt + commitMs)
    const counts = commits.map(({ begunAt }) => during(begunAt).reduce((sum, { events }) => sum + events, 0))
    return Math.max(...counts)
  }
  return { harness, commits, post, findMost }
}

t.test('of a new burst, 25 events are under way at a time where others have events', async (t) => {
  const { harness, commits, post, findMost } = await openSlowCommits(t)
  const other = newId()
  await harness.database.system.workspace.create({ data: { id: other, name: 'Other' } })
  harness.startWorker()
  await post(1, other)
  while (commits.length === 0) await setTimeout(10)
  await setTimeout(commitMs)
  commits.length = 0
  for (const id of await post(burst)) await harness.untilDone(id)
  const most = findMost()
  // What does not fit into a turn of the event loop is in a later commit.
  t.ok(most <= 25 && most > 5, `${most} at a time`)
  t.equal(await harness.own.task.count(), burst, 'and all are run')
})

t.test('an owner that has the worker to itself has all of its events under way', async (t) => {
  const { harness, commits, post } = await openSlowCommits(t)
  harness.startWorker()
  for (const id of await post(burst)) await harness.untilDone(id)
  const [first, second] = commits
  t.equal((first?.events ?? 0) + (second?.events ?? 0), burst)
})
