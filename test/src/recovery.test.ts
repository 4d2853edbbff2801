import { Queue } from 'bullmq'
import pg from 'pg'
import t from 'tap'
import { inParallel, startRunningProduct, until } from './fixtures/product.js'
import { describeTimes } from './fixtures/steady-requests.js'

const events = 200
/** As a worker's settings are when nobody sets them. */
const jobsAtATime = 12
const rounds = process.argv.includes('--long') ? 10 : 1

const running = await startRunningProduct({ workers: 2 })
const { product, client } = running
const own = running.database.forWorkspace(running.workspaceId)
const queue = new Queue('automation', {
  prefix: '{automation}',
  connection: { url: product.redisUrl },
})
const holder = new pg.Client(product.databaseUrl)
t.teardown(async () => {
  await queue.close()
  await holder.end()
  await running.stop()
})
await holder.connect()

await client.rules.create({
  name: 'Task',
  trigger: 'LEAD_CREATED',
  actions: [{ type: 'CREATE_TASK', config: { title: '{{name}}' } }],
})

t.test('what a killed worker had in hand is soon done by another, and once', async (t) => {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) times.push(...(await killInTheMiddle(round)))
  t.comment(`${times.length} done after the kill of their worker: ${describeTimes(times)}`)
  const tasks = await own.task.findMany({ select: { title: true } })
  t.equal(new Set(tasks.map(({ title }) => title)).size, events * rounds, 'every event made its task')
  t.equal(tasks.length, events * rounds, 'and none made a second one')
  t.equal(await own.event.count({ where: { quarantined: true } }), 0)
  t.ok(times.length >= rounds, 'the killed worker had some in hand, each time')
  t.ok(Math.max(...times) < 30_000, 'long before BullMQ would notice by itself')
})

/**
 * Two workers have as many events in hand as they take, and none can be loaded; then one is killed, and the way is free.
 *
 * @returns how long (ms) after the kill each of the events was done that the killed worker had had
 */
async function killInTheMiddle(round: number): Promise<number[]> {
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
  const killed = product.workers.at(-1)
  killed?.kill('SIGKILL')
  await killed?.exited
  const killedAt = Date.now()
  await holder.query('COMMIT')
  await until(async () => (await own.event.count({ where: { doneAt: null } })) === 0)
  const done = await own.event.findMany({
    where: { id: { in: ids } },
    select: { doneAt: true, crashes: true },
  })
  await product.startWorker()
  return done.filter(({ crashes }) => crashes > 0).map(({ doneAt }) => Number(doneAt) - killedAt)
}
