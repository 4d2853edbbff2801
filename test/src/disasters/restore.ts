import { dirname } from 'node:path'
import { startPostgres } from '@automation/launcher'
import { Redis } from 'ioredis'
import type { Load } from '../storm/load.js'
import { waitForLoad } from '../storm/schedule.js'
import type { Site } from '../storm/site.js'
import { killAll, type Restored, startRestored } from './after-restore.js'
import type { Disaster, Stage } from './disaster.js'
import { excuseLost, type Loss, type LostTime } from './excuse-lost.js'
import { prepareRemoved } from './removed.js'
import { runAdmin } from './run-admin.js'
import { runUnderLoad, seconds } from './run-under-load.js'
import { query } from './servers/postgres-pair.js'

export const restore: Disaster = {
  name: 'restore',
  about: 'A backup is made under load, everything is killed later, and the backup is restored.',
  needs: ['initdb', 'postgres', 'pgDump', 'pgRestore'],
  run: (stage) => restoreBackup(stage),
}

async function restoreBackup(stage: Stage) {
  const { initdb, postgres, pgDump } = stage.programs
  const server = await startPostgres({
    ...{ directory: `${stage.directory}/postgres`, durable: true, log: `${stage.directory}/postgres.log` },
    binaries: { initdb, postgres },
  })
  const lost: LostTime = { from: 0, to: 0 }
  let restored: Restored = { figures: {}, violations: [] }
  let loss: Loss | undefined
  try {
    const outcome = await runUnderLoad(stage, {
      servers: { databaseUrl: server.url, directories: [server.directory] },
      hasSwitches: false,
      happen: async (site, load) => {
        const env = { ...site.running.product.env, PATH: `${dirname(pgDump)}:${process.env.PATH}` }
        const [file, removals] = [`${stage.directory}/live.dump`, `${stage.directory}/removals.json`]
        const removed = await prepareRemoved(site)
        const began = performance.now()
        const backup = JSON.parse(await runAdmin(env, 'backup', file, '--json')) as { takenAt: string }
        const backupMs = performance.now() - began
        lost.from = Date.parse(backup.takenAt)
        stage.tell('the backup is made')
        await removed.remove()
        await runAdmin(env, 'removals', 'write', removals)
        await loseSome(stage, load)
        await killAll(site)
        const killedAt = performance.now()
        stage.tell('everything is killed')
        await bringBack(site, env, file)
        const restoredMs = performance.now() - killedAt
        lost.to = Date.now()
        stage.tell('the backup is restored')
        restored = await startRestored(stage, site, removed, removals)
        return {
          'the backup took': seconds(backupMs),
          'restored and reconciled after': seconds(restoredMs),
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

/** A third of the events is acknowledged after the backup, and before the loss. */
export async function loseSome({ events }: Stage, load: Load): Promise<void> {
  const goal = Math.min(load.acknowledged() + Math.ceil(events / 3), events)
  load.release(goal)
  await waitForLoad(load, goal)
  load.release(goal + events)
}

/** What was found before the workers were started, and after the load. */
export function conclude(outcome: Restored, restored: Restored, loss: Loss | undefined): Restored {
  return {
    figures: {
      ...outcome.figures,
      ...(loss && {
        'events acknowledged since, and lost': loss.events,
        'calls of lost events': loss.calls,
        'calls made again under their first key': loss.again,
      }),
    },
    violations: [...restored.violations, ...outcome.violations],
  }
}

/** As backup.md has it for Docker Compose: the present database stays beside it, and Redis is emptied. */
async function bringBack(site: Site, env: Record<string, string>, file: string): Promise<void> {
  const url = new URL(env.DATABASE_URL ?? '')
  const name = url.pathname.slice(1)
  url.pathname = '/template1'
  await query(
    url.href,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`,
  )
  await query(url.href, `ALTER DATABASE ${name} RENAME TO before_restore`)
  await query(url.href, `CREATE DATABASE ${name}`)
  await emptyRedis(site)
  await runAdmin(env, 'restore', file)
}

export async function emptyRedis({ running }: Site): Promise<void> {
  const redis = new Redis(running.product.redisUrl)
  await redis.flushall()
  redis.disconnect()
}
