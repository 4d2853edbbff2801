import type { Disaster, Stage } from './disaster.js'
import { runUnderLoad, seconds, untilReady } from './run-under-load.js'
import { PostgresPair } from './servers/postgres-pair.js'
import { postgresPrograms } from './servers/programs.js'

/** How long nobody notices that the primary is dead (ms). */
const unnoticedMs = 5_000

export const postgresSync: Disaster = {
  name: 'postgres-sync',
  about:
    'The primary of Postgres is killed under load, and its synchronous standby is promoted behind the same address.',
  needs: postgresPrograms,
  run: (stage) => failOver(stage),
}

async function failOver(stage: Stage) {
  const pair = await PostgresPair.open(stage, 'synchronous')
  try {
    return await runUnderLoad(stage, {
      servers: { databaseUrl: pair.url, directories: pair.directories },
      async happen(site) {
        await pair.killPrimary()
        stage.tell('the primary is dead')
        await new Promise((resolve) => setTimeout(resolve, unnoticedMs))
        const from = performance.now()
        await pair.promote()
        const promotedMs = performance.now() - from
        stage.tell('the standby is promoted')
        await untilReady(site)
        const readyMs = performance.now() - from
        return {
          'promotion took': seconds(promotedMs),
          'all processes ready after': seconds(readyMs),
        }
      },
    })
  } finally {
    await pair.stop()
  }
}
