import { until } from '../fixtures/product.js'
import type { Disaster } from './disaster.js'
import { runUnderLoad, seconds, untilReady } from './run-under-load.js'
import { openPrimaryAddress } from './servers/primary-address.js'
import { RedisCluster } from './servers/redis-cluster.js'

export const redisCluster: Disaster = {
  name: 'redis-cluster',
  about:
    'The primary of the slot of the queue is killed under load, its replica promoted, and the slot moved to another one.',
  needs: ['redisServer'],
  async run(stage) {
    const servers = await RedisCluster.open(stage.directory)
    let primary = await servers.findPrimary()
    const address = await openPrimaryAddress(() => primary)
    try {
      return await runUnderLoad(stage, {
        servers: {
          redisUrl: address.url,
          envOf: () => ({ REDIS_URL: servers.url, QUEUES: '3' }),
          directories: servers.directories,
        },
        async happen(site) {
          const killed = await servers.killPrimary()
          stage.tell('the primary is dead')
          let from = performance.now()
          await until(async () => {
            primary = await servers.findPrimary().catch(() => killed)
            return primary !== killed
          })
          const promotedMs = performance.now() - from
          stage.tell('its replica is promoted')
          await untilReady(site)
          const readyMs = performance.now() - from
          await servers.startAgain(killed)
          stage.tell('the old primary is a replica')
          from = performance.now()
          const keys = await servers.moveSlot()
          primary = await servers.findPrimary()
          address.reset()
          const movedMs = performance.now() - from
          stage.tell('the slot has moved')
          await untilReady(site)
          return {
            'the replica was promoted after': seconds(promotedMs),
            'all processes ready after': seconds(readyMs),
            'keys of the slot that moved': keys,
            'the move took': seconds(movedMs),
            'all processes ready after the move began': seconds(performance.now() - from),
          }
        },
      })
    } finally {
      await address.close()
      await servers.stop()
    }
  },
}
