import { setTimeout as delay } from 'node:timers/promises'
import type { Site } from '../storm/site.js'
import type { Disaster, Outcome, Stage } from './disaster.js'
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
  async run(stage) {
    const pair = await PostgresPair.open(stage, 'synchronous')
    try {
      return await runUnderLoad(stage, {
        servers: { databaseUrl: pair.url, directories: pair.directories },
        happen: (site) => failOver(stage, pair, site),
      })
    } finally {
      await pair.stop()
    }
  },
}

/** Kills the primary, promotes the standby, and brings the old primary back as a standby. */
export async function failOver(stage: Stage, pair: PostgresPair, site: Site): Promise<Outcome['figures']> {
  await pair.killPrimary()
  stage.tell('the primary is dead')
  await delay(unnoticedMs)
  const from = performance.now()
  await pair.promote()
  const promotedMs = performance.now() - from
  stage.tell('the standby is promoted')
  await untilReady(site)
  const readyMs = performance.now() - from
  await pair.startOld()
  const rejoinedFrom = performance.now()
  await pair.rejoin()
  stage.tell('the old primary is a standby')
  return {
    'the promotion took': seconds(promotedMs),
    'all processes ready after the promotion': seconds(readyMs),
    'the old primary follows the new one after': seconds(performance.now() - rejoinedFrom),
  }
}
