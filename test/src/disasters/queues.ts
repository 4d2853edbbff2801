import { prefixOf, queueName } from '@automation/queue'
import { Redis } from 'ioredis'
import { createRandom, shuffle } from '../storm/random.js'
import type { Site } from '../storm/site.js'
import type { Disaster } from './disaster.js'
import { runUnderLoad, seconds, untilReady } from './run-under-load.js'

const many = 4
const prefix = '{automation}'
const unfinished = ['wait', 'prioritized', 'active', 'delayed']
/** Of all jobs that were added, since Redis was flushed. */
const added = ['events']
const lastsMs = 40_000

export const queues: Disaster = {
  name: 'queues',
  about: `QUEUES is changed from 1 to ${many} and back under load, process by process; some are killed, and Redis is flushed.`,
  needs: [],
  async run(stage) {
    const random = createRandom(stage.seed)
    /** By process. */
    const numbers = new Map<string, number>()
    let left: string[] = []
    const outcome = await runUnderLoad(stage, {
      lastsMs,
      servers: { envOf: (name) => ({ QUEUES: `${numbers.get(name) ?? 1}` }) },
      async happen(site) {
        const from = performance.now()
        let used = 0
        for (const number of [many, 1]) {
          const slots = shuffle([...site.apis, ...site.workers], random)
          const [flushedAt, killed] = [random.pick(slots), random.pick(slots)]
          for (const slot of slots) {
            numbers.set(slot.name, number)
            await (slot === killed ? slot.replace() : slot.exchange())
            stage.tell(`${slot.name} has ${number} queues, ${slot === killed ? 'killed' : 'ended in order'}`)
            if (slot === flushedAt) {
              await withRedis(site, (redis) => redis.flushall())
              stage.tell('Redis is flushed')
            }
            await untilReady(site)
          }
          if (number === many) used = (await findQueues(site, added)).length
        }
        return {
          'further queues that were used': used,
          'both changes took': seconds(performance.now() - from),
        }
      },
      async excuse({ site }) {
        left = await findQueues(site, unfinished)
      },
    })
    const violations = left.map((queue) => `jobs are left in ${queue}`)
    return { ...outcome, violations: [...outcome.violations, ...violations] }
  },
}

/** @returns the queues beyond the first one that have one of these keys */
async function findQueues(site: Site, keys: string[]): Promise<string[]> {
  const others = Array.from({ length: many - 1 }, (_, index) => prefixOf(prefix, index + 1))
  return withRedis(site, async (redis) => {
    const counts = await Promise.all(
      others.map((own) => redis.exists(...keys.map((key) => `${own}:${queueName}:${key}`))),
    )
    return others.filter((_, index) => (counts[index] ?? 0) > 0)
  })
}

async function withRedis<Result>({ running }: Site, use: (redis: Redis) => Promise<Result>): Promise<Result> {
  const redis = new Redis(running.product.redisUrl)
  redis.on('error', () => {})
  try {
    return await use(redis)
  } finally {
    redis.disconnect()
  }
}
