import { newId } from '@automation/database'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { QueueCounts } from '../src/queue-counts.js'

const longMs = 31_000
const dayMs = 86_400_000

function openScene(t: Test) {
  const redis = new Redis(process.env.REDIS_URL ?? '')
  const prefix = `{test-${newId()}}`
  t.teardown(async () => {
    await redis.del(`${prefix}:queues`)
    redis.disconnect()
  })
  /** ms that have passed for the processes; Redis has its own clock. */
  let passed = 0
  /** By index of the queue. */
  const jobs = new Set<number>()
  return {
    redis,
    key: `${prefix}:queues`,
    jobs,
    pass: (ms: number) => {
      passed += ms
    },
    /** A process that spreads jobs over so many queues. */
    start: (own: number) =>
      new QueueCounts(
        redis,
        prefix,
        own,
        async (queue) => jobs.has(queue),
        () => passed,
      ),
  }
}

t.test('workers read the queues of each living process', async (t) => {
  const { start } = openScene(t)
  const [worker, api] = [start(1), start(4)]
  await worker.look()
  t.equal(worker.inUse, 1)
  await api.look()
  await worker.look()
  t.equal(worker.inUse, 4)
  t.same(worker.known, [1, 4])
  t.same(api.known, [4, 1])
  t.equal(api.inUse, 4)
})

t.test('queues of a process that has ended are read as long as they have jobs', async (t) => {
  const { redis, key, jobs, pass, start } = openScene(t)
  const hourAgo = Date.now() - 3_600_000
  await redis.zadd(key, String(hourAgo), '4')
  const worker = start(1)
  await worker.look()
  t.equal(worker.inUse, 1, 'they are empty')

  jobs.add(2)
  await worker.look()
  t.equal(worker.inUse, 4)
  const other = start(2)
  await other.look()
  t.equal(other.inUse, 4, 'others hear of it')

  pass(longMs)
  await worker.look()
  t.equal(worker.inUse, 4, 'there is a job still')
  jobs.clear()
  await worker.look()
  t.equal(worker.inUse, 4, 'a process that has just added one may have announced it')
  pass(longMs)
  t.equal(worker.inUse, 1)
  t.same(worker.known.toSorted(), [1, 2, 4], 'jobs of theirs are looked for')
})

t.test('a number is forgotten a day after its last word, if its queues are empty', async (t) => {
  const { redis, key, jobs, pass, start } = openScene(t)
  await redis.zadd(key, String(Date.now() - 2 * dayMs), '4')
  jobs.add(3)
  const worker = start(1)
  await worker.look()
  t.same(worker.known, [1, 4])
  jobs.clear()
  await redis.zadd(key, String(Date.now() - 2 * dayMs), '4')
  pass(dayMs + 1)
  await worker.look()
  t.same(worker.known, [1])
  t.same(await redis.zrange(key, '0', '-1'), ['1'])
})

t.test(
  'what a flushed Redis has forgotten, each process remembers until it is announced again',
  async (t) => {
    const { redis, key, pass, start } = openScene(t)
    const [worker, api] = [start(1), start(4)]
    await api.look()
    await worker.look()
    await redis.del(key)
    await worker.look()
    t.equal(worker.inUse, 4)
    await api.look()
    t.same((await redis.zrange(key, '0', '-1')).toSorted(), ['1', '4'])
    pass(longMs)
    await worker.look()
    t.equal(worker.inUse, 4)
  },
)
