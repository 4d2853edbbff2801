import { setTimeout as delay } from 'node:timers/promises'
import { pidsOf, readCpuMicros } from '../cpu-time.js'
import { startQuietCallers } from '../load/quiet-callers.js'
import { takeTurns } from '../rounds.js'
import { waitsOf } from '../statistics.js'
import { createWorkspaces, oneTask } from '../workspace.js'
import type { Beside, Stretch } from './report.js'
import { call, create, path, prepare, rulesPath, type Stage, type Tested } from './tested-rule.js'

/** Each posts an event a second and waits for its outcome. */
const callerCount = 50
const warmUpMs = 2_000

/** The waits of live events, without a backtest and beside a gentle one. */
export async function measureBeside(stage: Stage, rounds: number, seconds: number): Promise<Beside[]> {
  const tested = await prepare(stage, 1)
  const callers = await createWorkspaces(stage.database, stage.product, callerCount, oneTask)
  const posting = startQuietCallers(stage.api.baseUrl, callers, `${rulesPath}/trigger/LEAD_CREATED`)
  try {
    const figures = await takeTurns(['alone', 'gentle'] as const, rounds, async (name, round) => {
      console.error(`round ${round}/${rounds}  live events  ${name}`)
      const ids = name === 'gentle' ? await createSome(tested) : []
      await delay(warmUpMs)
      const stretch = await measureStretch(stage, posting.take, seconds)
      for (const id of ids) await call(tested.workspace, 'DELETE', `${path}/${id}`, [204, 409])
      return stretch
    })
    const [alone = [], gentle = []] = [figures.get('alone'), figures.get('gentle')]
    return alone.map((stretch, round) => ({ alone: stretch, gentle: gentle[round] as Stretch }))
  } finally {
    await posting.stop()
  }
}

/** More than end within a stretch: one at a time is computed. */
async function createSome(tested: Tested): Promise<string[]> {
  const ids: string[] = []
  for (let count = 0; count < 3; count++) ids.push((await create(tested, 'gentle')).id)
  return ids
}

async function measureStretch(
  { product, api, worker }: Stage,
  take: () => number[],
  seconds: number,
): Promise<Stretch> {
  take()
  const pids = pidsOf(product, [api], [worker])
  const before = readCpuMicros(pids)
  const startedAt = performance.now()
  await delay(seconds * 1_000)
  const after = readCpuMicros(pids)
  return {
    seconds: (performance.now() - startedAt) / 1_000,
    waits: waitsOf(take()),
    workerMicros: (after.worker ?? 0) - (before.worker ?? 0),
  }
}
