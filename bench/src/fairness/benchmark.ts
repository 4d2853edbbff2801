import { setTimeout as delay } from 'node:timers/promises'
import { listAims } from '../aims.js'
import { drainBacklog } from '../backlog.js'
import { type Benchmark, choose } from '../benchmark.js'
import { clearTraces } from '../clear-traces.js'
import { measureCpu, pidsOf } from '../cpu-time.js'
import { startLoad } from '../load/load.js'
import { startQuietCallers } from '../load/quiet-callers.js'
import { whileStopped } from '../measure.js'
import { runOnProduct, type Stage } from '../product.js'
import { measureRounds } from '../rounds.js'
import { describeWaits, waitsOf } from '../statistics.js'
import type { Figures } from '../table.js'
import { triggerPath } from '../usual-case.js'
import { createWorkspaces, oneTask, type Workspace } from '../workspace.js'

const floodSize = 100_000
const floodConnections = 32
const quietCount = 50
const warmUpMs = 1_000

/** Both in turn, in the same run, so that other load on the machine affects both. */
const scenarios = [
  { label: 'first come', isFair: false },
  { label: 'fair share', isFair: true },
]

interface Scene extends Stage {
  flooding: Workspace
  quiet: Workspace[]
}

/** How a flood of one workspace changes the waits of others, with and without fair shares. */
export const fairness: Benchmark = {
  about: 'what a flood of one workspace does to the waits of 50 others, with fair shares and without',
  seconds: 4,
  rounds: 6,
  async run({ seconds, rounds, only, profile }) {
    const measurements = choose(scenarios, only)
    return runOnProduct({ profile }, { workers: 0 }, async (stage) => {
      const [flooding, ...quiet] = await createWorkspaces(
        stage.database,
        stage.product,
        quietCount + 1,
        oneTask,
      )
      const scene = { ...stage, flooding: flooding as Workspace, quiet }
      const table = await measureRounds(measurements, rounds, ({ isFair }) =>
        measureFlood(scene, isFair, seconds),
      )
      const aims = listAims(table.lines, [
        { title: 'flood: p95 of the extra wait, ms', of: ['fair share', 'extra p95 ms'], atMost: 150 },
        {
          title: 'flood: events/s of first come',
          of: ['fair share', 'done/s'],
          dividedBy: ['first come', 'done/s'],
          atLeast: 0.8,
        },
      ])
      return { tables: [table], aims }
    })
  },
}

async function measureFlood(scene: Scene, isFair: boolean, seconds: number): Promise<Figures> {
  const { database, postgres, product, flooding, quiet } = scene
  await clearTraces(scene)
  const preload = { NODE_OPTIONS: `--import=${new URL('./first-come-process.js', import.meta.url)}` }
  const env = isFair ? {} : preload
  const [api, worker] = await Promise.all([product.startApi(env), product.startWorker(env)])
  const load = startLoad({
    origins: [api.baseUrl],
    requests: [
      {
        path: triggerPath,
        headers: { ...flooding.headers, prefer: 'respond-async' },
        payload: JSON.stringify({ data: { name: 'Ada' } }),
      },
    ],
    ...{ expectedStatus: 202, connections: floodConnections },
  })
  let callers = startQuietCallers(api.baseUrl, quiet, triggerPath)
  try {
    await delay(warmUpMs)
    callers.take()
    await delay(seconds * 1_000)
    const alone = waitsOf(callers.take())
    await callers.stop()
    // The backlog is there at once, since its growth would depend on the API.
    const accepted = await whileStopped([worker], async () => {
      let requests = 0
      while (requests < floodSize) requests += (await load.run(1)).requests
      // Otherwise the plans depend on chance: autovacuum may have analysed the tables while they were empty.
      await postgres.query('ANALYZE')
      callers = startQuietCallers(api.baseUrl, quiet, triggerPath)
      return requests
    })
    const costs = measureCpu(pidsOf(product, [api], [worker]))
    const startedAt = performance.now()
    await drainBacklog(database)
    const flooded = waitsOf(callers.take())
    return {
      'done/s': (accepted * 1_000) / (performance.now() - startedAt),
      ...describeWaits(alone, 'quiet'),
      ...describeWaits(flooded, 'in flood'),
      'extra p95 ms': flooded.p95Ms - alone.p95Ms,
      ...costs(accepted),
    }
  } finally {
    await callers.stop()
    await load.stop()
    await Promise.all([api.stop(), worker.stop()])
  }
}
