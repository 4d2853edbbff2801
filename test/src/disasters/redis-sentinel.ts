import type { Disaster } from './disaster.js'
import { runUnderLoad, seconds, untilReady } from './run-under-load.js'
import { openPrimaryAddress } from './servers/primary-address.js'
import { RedisSentinels } from './servers/redis-sentinels.js'

export const redisSentinel: Disaster = {
  name: 'redis-sentinel',
  about: 'The primary of Redis is killed under load, and three Sentinels promote its replica.',
  needs: ['redisServer'],
  async run(stage) {
    const servers = await RedisSentinels.open(stage)
    let primary = servers.first
    const address = await openPrimaryAddress(() => primary)
    try {
      return await runUnderLoad(stage, {
        servers: {
          redisUrl: address.url,
          envOf: () => ({ REDIS_URL: servers.url }),
          directories: servers.directories,
        },
        async happen(site) {
          await servers.killPrimary()
          stage.tell('the primary is dead')
          const from = performance.now()
          while (!(await servers.isPromoted())) await new Promise((resolve) => setTimeout(resolve, 50))
          const promotedMs = performance.now() - from
          primary = servers.second
          stage.tell('the replica is promoted')
          await untilReady(site)
          const readyMs = performance.now() - from
          await servers.startOld()
          stage.tell('the old primary is a replica')
          return {
            'the replica was promoted after': seconds(promotedMs),
            'all processes ready after': seconds(readyMs),
          }
        },
      })
    } finally {
      await address.close()
      await servers.stop()
    }
  },
}
