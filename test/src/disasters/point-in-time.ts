import { waitForLoad } from '../storm/schedule.js'
import { killAll, type Restored, startRestored } from './after-restore.js'
import type { Disaster, Stage } from './disaster.js'
import { excuseLost, type Loss, type LostTime } from './excuse-lost.js'
import { prepareRemoved } from './removed.js'
import { conclude, emptyRedis, loseSome } from './restore.js'
import { runAdmin } from './run-admin.js'
import { runUnderLoad, seconds } from './run-under-load.js'
import { ArchivedPostgres } from './servers/archived-postgres.js'
import { query } from './servers/postgres-pair.js'

export const pointInTime: Disaster = {
  name: 'point-in-time',
  about:
    'Somebody empties a table under load, and Postgres is recovered to a moment before it from a base backup and archived WAL.',
  needs: ['initdb', 'postgres', 'pgBaseBackup'],
  run: (stage) => recover(stage),
}

async function recover(stage: Stage) {
  const server = await ArchivedPostgres.open(stage)
  const lost: LostTime = { from: 0, to: 0 }
  let restored: Restored = { figures: {}, violations: [] }
  let loss: Loss | undefined
  try {
    const outcome = await runUnderLoad(stage, {
      servers: { databaseUrl: server.url, directories: server.directories },
      hasSwitches: false,
      happen: async (site, load) => {
        const { env } = site.running.product
        const removals = `${stage.directory}/removals.json`
        const removed = await prepareRemoved(site)
        await server.backUp()
        // Some of the load is recovered from the archive alone.
        await waitForLoad(load, load.acknowledged() + Math.ceil(stage.events / 10))
        const [moment] = await query<{ at: Date }>(server.url, 'SELECT clock_timestamp() AS at')
        const at = moment?.at ?? new Date()
        lost.from = at.getTime()
        await removed.remove()
        await runAdmin(env, 'removals', 'write', removals)
        await loseSome(stage, load)
        await query(server.url, 'TRUNCATE tasks')
        await killAll(site)
        const killedAt = performance.now()
        stage.tell('the tasks are gone, and everything is killed')
        await server.recoverTo(at)
        const recoveredMs = performance.now() - killedAt
        // Before any process of the service reaches it.
        await query(server.recoveredUrl, 'INSERT INTO restores DEFAULT VALUES')
        await emptyRedis(site)
        server.open()
        lost.to = Date.now()
        stage.tell('the server is recovered')
        restored = await startRestored(stage, site, removed, removals)
        const [mark] = await query<{ asOf: Date }>(server.url, 'SELECT as_of AS "asOf" FROM restores')
        const asOf = mark?.asOf.getTime() ?? 0
        if (asOf > at.getTime() || asOf < at.getTime() - latestCommitMs)
          restored.violations.push(
            `the mark says ${mark?.asOf.toISOString()}, and it was ${at.toISOString()}`,
          )
        return {
          'recovered after': seconds(recoveredMs),
          'workers started after': seconds(performance.now() - killedAt),
          ...restored.figures,
        }
      },
      excuse: async (evidence) => {
        loss = await excuseLost(evidence, lost)
      },
    })
    return conclude(outcome, restored, loss)
  } finally {
    await server.stop()
  }
}

/** Under load something is committed all the time. */
const latestCommitMs = 5_000
