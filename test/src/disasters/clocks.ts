import { startPostgres } from '@automation/launcher'
import { until } from '../fixtures/product.js'
import { runMemoryStorm } from '../storm/memory.js'
import type { Slot } from '../storm/site.js'
import { runWaitsStorm } from '../storm/waits.js'
import type { Disaster, Outcome, Stage } from './disaster.js'
import { runUnderLoad, seconds, untilReady } from './run-under-load.js'
import { FakeClock } from './servers/fake-clock.js'

const aheadSeconds = 600
/** How long (ms) the load goes on under each clock: every process looks at its own at least once. */
const phaseMs = 10_000

export const clocks: Disaster = {
  name: 'clocks',
  about:
    'The clocks of one API and one worker are ten minutes ahead of all others, and then ten minutes behind.',
  needs: ['faketime'],
  run: setProcesses,
}

async function setProcesses(stage: Stage): Promise<Outcome> {
  const clock = await FakeClock.open(stage, 'clock', aheadSeconds)
  const wrong = new Set<string>()
  const load = await runUnderLoad(stage, {
    servers: { envOf: (name) => (wrong.has(name) ? clock.env : {}) },
    async happen(site) {
      const [right, api] = site.apis as [Slot, Slot]
      const worker = site.workers[1] as Slot
      site.webhooksTo = right
      for (const { name } of [api, worker]) wrong.add(name)
      await Promise.all([api.replace(), worker.replace()])
      const figures: Outcome['figures'] = {}
      const doors = watchDoors([right, site.workers[0] as Slot])
      const startedAt = performance.now()
      const areOutvoted = async () =>
        (await Promise.all([api, worker].map(clockOf))).every((one) => one.clock === 'outvoted')
      await until(areOutvoted)
      figures['both not ready after'] = seconds(performance.now() - startedAt)
      stage.tell('both know that they are ahead')
      await pass(phaseMs)
      await clock.set(-aheadSeconds)
      stage.tell('both are behind')
      await pass(2 * phaseMs)
      figures['both not ready when they are behind'] = (await areOutvoted()) ? 'yes' : 'NO'
      figures['looks at which one of the others was not ready'] = await doors.stop()
      const from = performance.now()
      await clock.set(0)
      await untilReady(site)
      figures['ready, once the clocks were set, after'] = seconds(performance.now() - from)
      return figures
    },
  })
  const behind = await FakeClock.open(stage, 'behind', -aheadSeconds)
  const ahead = await FakeClock.open(stage, 'ahead', aheadSeconds)
  const workerEnvs = [{}, ahead.env, behind.env]
  const options = { seed: stage.seed, faults: 0, workerEnvs, tell: stage.tell }
  stage.tell('the storm of keys, with one worker ahead, one behind and one right')
  const keys = await runMemoryStorm({ ...options, events: Math.ceil(stage.events / 2) })
  stage.tell('the storm of WAITs')
  const waits = await runWaitsStorm({ ...options, races: Math.ceil(stage.events / 6) })
  return {
    figures: {
      ...load.figures,
      'events for keys, of them suppressed': `${keys.events}, ${keys.suppressed}`,
      'WAITs ended by an event, by time, by a person, expired': `${waits.endedByEvent}, ${waits.endedByTime}, ${waits.decided}, ${waits.expired}`,
    },
    violations: [...load.violations, ...keys.violations, ...waits.violations],
  }
}

export const clockPostgres: Disaster = {
  name: 'clock-postgres',
  about: 'The clock of Postgres is ten minutes behind, is set, and is then ten minutes ahead.',
  needs: ['initdb', 'postgres', 'faketime'],
  run: setPostgres,
}

async function setPostgres(stage: Stage): Promise<Outcome> {
  const clock = await FakeClock.open(stage, 'clock', -aheadSeconds)
  const { initdb } = stage.programs
  const binaries = { initdb, postgres: await clock.wrap(stage.programs.postgres) }
  const postgres = await startPostgres({ directory: `${stage.directory}/postgres`, durable: true, binaries })
  try {
    return await runUnderLoad(stage, {
      servers: { databaseUrl: postgres.url, directories: [postgres.directory] },
      // A step of its clock ends all leases, so calls in progress count as interrupted.
      clocksDifferMs: aheadSeconds * 1_000,
      async happen(site) {
        const figures: Outcome['figures'] = {}
        const all = [...site.apis, ...site.workers]
        const untilAll = async (wanted: string) => {
          const from = performance.now()
          await until(async () =>
            (await Promise.all(all.map(clockOf))).every(({ clock }) => clock === wanted),
          )
          return seconds(performance.now() - from)
        }
        figures['all processes say so, behind, after'] = await untilAll('differs')
        const doors = watchDoors(all)
        await pass(phaseMs)
        await clock.set(0)
        figures['none says so, once it is set, after'] = await untilAll('ok')
        await pass(phaseMs)
        await clock.set(aheadSeconds)
        figures['all processes say so, ahead, after'] = await untilAll('differs')
        await pass(phaseMs)
        figures['looks at which a process was not ready'] = await doors.stop()
        return figures
      },
    })
  } finally {
    await postgres.stop()
  }
}

/** Looks all the time whether these processes are ready. */
function watchDoors(slots: Slot[]) {
  let closed = 0
  let isStopped = false
  const watching = (async () => {
    while (!isStopped) {
      const all = await Promise.all(slots.map(clockOf))
      closed += all.filter(({ status }) => status !== 200).length
      await pass(500)
    }
  })()
  return {
    async stop(): Promise<number> {
      isStopped = true
      await watching
      return closed
    },
  }
}

async function clockOf({ process }: Slot): Promise<{ status: number; clock?: string }> {
  const signal = AbortSignal.timeout(10_000)
  const response = await fetch(`http://127.0.0.1:${process.port}/readyz`, { signal }).catch(() => undefined)
  const body = (await response?.json().catch(() => undefined)) as { clock?: string } | undefined
  return { status: response?.status ?? 0, ...(body?.clock && { clock: body.clock }) }
}

function pass(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
