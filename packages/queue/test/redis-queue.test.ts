import { newId } from '@automation/database'
import t from 'tap'
import { openRedis } from '../src/open-redis.js'
import { RedisQueue } from '../src/redis-queue.js'

t.test('however often a queue cannot be prepared, it is opened once', async (t) => {
  const prefix = `{test-${newId()}}`
  const redis = openRedis(process.env.REDIS_URL ?? '', prefix, 'fail at once')
  const listening: number[] = []
  const queue = new RedisQueue(redis, prefix, {
    channels: prefix,
    isOwn: true,
    async prepare() {
      listening.push(redis.listenerCount('close'))
      if (listening.length < 3) throw new Error('not yet')
    },
  })
  t.teardown(() => queue.close())
  t.ok(await queue.isReady(5_000))
  t.equal(listening.length, 3)
  t.equal(new Set(listening).size, 1, 'nothing else listens to the connection')
})
