import type { NodeProcess } from '@automation/launcher'
import { Queue } from 'bullmq'
import pg from 'pg'
import { inParallel, until } from '../fixtures/product.js'
import { describeTimes } from '../fixtures/steady-requests.js'
import type { Scenario, Scene } from './scene.js'

const events = 200
/** As a worker's settings are when nobody sets them. */
const jobsAtATime = 12
/** Ten for the figure in docs/internals/reliability.md. */
const rounds = process.env.TEST_LARGE ? 10 : 1

interface Parts extends Scene {
  queue: Queue
  /** A connection that holds what no worker is to load. */
  holder: pg.Client
  workers: NodeProcess[]
}

export const jobsInHand: Scenario = {
  title: 'what a killed worker had in hand is soon done by another, and once',
  async run(t, scene) {
    const { product, client } = scene
    const own = scene.database.forWorkspace(scene.workspaceId)
    const queue = new Queue('automation', {
      prefix: '{automation}',
      connection: { url: product.redisUrl },
    })
    const holder = new pg.Client(product.databaseUrl)
    t.teardown(async () => {
      await queue.close()
      await holder.end()
    })
    await holder.connect()
    await client.rules.create({
      name: 'Task',
      trigger: 'LEAD_CREATED',
      actions: [{ type: 'CREATE_TASK', config: { title: '{{name}}' } }],
    })
    const workers = await Promise.all([product.startWorker(), product.startWorker()])
    const parts = { ...scene, queue, holder, workers }

    const times: number[] = []
    for (let round = 0; round < rounds; round++) times.push(...(await killInTheMiddle(parts, round)))
    t.comment(`${times.length} done after the kill of their worker: ${describeTimes(times)}`)
    const tasks = await own.task.findMany({ select: { title: true } })
    t.equal(new Set(tasks.map(({ title }) => title)).size, events * rounds, 'every event made its task')
    t.equal(tasks.length, events * rounds, 'and none made a second one')
    t.equal(await own.event.count({ where: { quarantined: true } }), 0)
    t.ok(times.length >= rounds, 'the killed worker had some in hand, each time')
    t.ok(Math.max(...times) < 30_000, 'long before BullMQ would notice by itself')
  },
}

/**
 * Two workers have as many events in hand as they take, and none can be loaded; then one is killed, and the way is free.
 *
 * @returns how long (ms) after the kill each of the events was done that the killed worker had had
 */
async function killInTheMiddle(
  { product, client, database, workspaceId, queue, holder, workers }: Parts,
  round: number,
): Promise<number[]> {
  const own = database.forWorkspace(workspaceId)
  await holder.query('BEGIN')
  const ids: string[] = []
  await queue.pause()
  await inParallel(events, 16, async (index) => {
    const { id } = await client.trigger('LEAD_CREATED', { name: `${round} ${index}` }, { async: true })
    ids.push(id)
  })
  await holder.query('LOCK TABLE events IN ACCESS EXCLUSIVE MODE')
  await queue.resume()
  const isTaken = async () =>
    (await queue.count()) === 0 || (await queue.getActiveCount()) === 2 * jobsAtATime
  await until(async () => (await queue.getActiveCount()) > 0 && (await isTaken()))
  const killed = workers.pop()
  killed?.kill('SIGKILL')
  await killed?.exited
  const killedAt = Date.now()
  await holder.query('COMMIT')
  await until(async () => (await own.event.count({ where: { doneAt: null } })) === 0)
  const done = await own.event.findMany({
    where: { id: { in: ids } },
    select: { doneAt: true, crashes: true },
  })
  workers.push(await product.startWorker())
  return done.filter(({ crashes }) => crashes > 0).map(({ doneAt }) => Number(doneAt) - killedAt)
}
