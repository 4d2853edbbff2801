import { setTimeout as delay } from 'node:timers/promises'
import { type Server, startPostgres, startRedis } from '@automation/launcher'
import type { GivenServers } from '../storm/open-site.js'
import type { Site } from '../storm/site.js'
import type { Disaster, Outcome, Stage } from './disaster.js'
import { runUnderLoad, seconds, untilReady } from './run-under-load.js'
import { SmallDisk } from './servers/small-disk.js'

/** Room for the empty database, its write-ahead log, and the load. */
const postgresMegabytes = 700
const redisMegabytes = 64

export const diskFullPostgres: Disaster = {
  name: 'disk-full-postgres',
  about: "The disk of Postgres' data and write-ahead log is full under load, and has room again.",
  needs: ['initdb', 'postgres', 'mount', 'umount'],
  run: (stage) =>
    fillUnderLoad(stage, postgresMegabytes, async (directory) => {
      const { initdb, postgres } = stage.programs
      const start = (port?: number) =>
        startPostgres({
          directory,
          port,
          durable: true,
          log: `${stage.directory}/postgres.log`,
          binaries: { initdb, postgres },
        })
      const server = await start()
      return { server, given: { databaseUrl: server.url }, startAgain: () => start(server.port) }
    }),
}

export const diskFullRedis: Disaster = {
  name: 'disk-full-redis',
  about: "The disk of Redis' append-only file is full under load, and has room again.",
  needs: ['mount', 'umount'],
  run: (stage) =>
    fillUnderLoad(stage, redisMegabytes, async (directory) => {
      const start = (port?: number) =>
        startRedis({ directory, port, persistent: true, log: `${stage.directory}/redis.log` })
      const server = await start()
      return { server, given: { redisUrl: server.url }, startAgain: () => start(server.port) }
    }),
}

interface Started {
  server: Server
  given: GivenServers
  /** As a supervisor does, if it has ended. */
  startAgain(): Promise<Server>
}

async function fillUnderLoad(
  stage: Stage,
  megabytes: number,
  start: (directory: string) => Promise<Started>,
): Promise<Outcome> {
  const disk = await SmallDisk.mount(stage, megabytes)
  try {
    const { server, given, startAgain } = await start(`${disk.directory}/server`)
    let running = server
    try {
      return await runUnderLoad(stage, {
        servers: { ...given, directories: [server.directory] },
        async happen(site) {
          await disk.fill()
          stage.tell('the disk is full')
          const seen = await watch(site, stage.seconds)
          const hasEnded = server.hasExited()
          stage.tell(hasEnded ? 'the server has ended' : 'the server runs on')
          const from = performance.now()
          await disk.free()
          if (hasEnded) running = await startAgain()
          await untilReady(site)
          return {
            'full for': seconds(stage.seconds * 1_000),
            'the server itself': hasEnded ? 'ended, and was started again' : 'ran on',
            'statuses of /readyz meanwhile': seen,
            'all processes ready, once there was room, after': seconds(performance.now() - from),
            'processes that ended': site.failedStarts.length,
          }
        },
      })
    } finally {
      await disk.free()
      await running.stop()
    }
  } finally {
    await disk.unmount()
  }
}

/** What the probes say for so long (s). */
async function watch({ apis, workers }: Site, forSeconds: number): Promise<string> {
  const counts = new Map<string, number>()
  const endAt = performance.now() + forSeconds * 1_000
  while (performance.now() < endAt) {
    for (const [kind, slots] of Object.entries({ API: apis, worker: workers }))
      for (const { process } of slots) {
        const signal = AbortSignal.timeout(10_000)
        const response = await fetch(`http://127.0.0.1:${process.port}/readyz`, { signal }).catch(
          () => undefined,
        )
        const key = `${kind} ${response?.status ?? 'silent'}`
        counts.set(key, (counts.get(key) ?? 0) + 1)
      }
    await delay(500)
  }
  return [...counts].map(([key, count]) => `${key} × ${count}`).join(', ')
}
