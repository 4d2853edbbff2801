import { fork } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { pidsOf, readCpuMicros } from '../cpu-time.js'
import { startQuietCallers } from '../load/quiet-callers.js'
import { takeTurns } from '../rounds.js'
import { waitsOf } from '../statistics.js'
import { createWorkspaces, oneTask } from '../workspace.js'
import { type Beside, kinds, type Stretch } from './report.js'
import { call, create, path, prepare, rulesPath, type Stage, type Tested } from './tested-rule.js'

/** Each posts an event a second and waits for its outcome. */
const callerCount = 50
const warmUpMs = 2_000

/** The waits of live events: alone, beside a gentle backtest, and beside a process that uses as much CPU and has nothing to do with them. */
export async function measureBeside(stage: Stage, rounds: number, seconds: number): Promise<Beside[]> {
  const tested = await prepare(stage, 1)
  const callers = await createWorkspaces(stage.database, stage.product, callerCount, oneTask)
  const posting = startQuietCallers(stage.api.baseUrl, callers, `${rulesPath}/trigger/LEAD_CREATED`)
  try {
    const figures = await takeTurns(kinds, rounds, async (name, round) => {
      console.error(`round ${round}/${rounds}  live events  ${name}`)
      const end = await starts[name](tested)
      try {
        await delay(warmUpMs)
        return await measureStretch(stage, posting.take, seconds)
      } finally {
        await end()
      }
    })
    return Array.from(
      { length: rounds },
      (_, round) =>
        Object.fromEntries(kinds.map((kind) => [kind, figures.get(kind)?.[round]])) as unknown as Beside,
    )
  } finally {
    await posting.stop()
  }
}

/** Each begins what is beside the live events, and returns what ends it. */
const starts: Record<keyof Beside, (tested: Tested) => Promise<() => Promise<unknown>>> = {
  alone: async () => async () => {},
  gentle: startBacktests,
  busyLoop: async () => {
    const loop = fork(fileURLToPath(new URL('../load/busy-loop.js', import.meta.url)))
    return async () => loop.kill('SIGKILL')
  },
}

/** Starts three: a worker computes one at a time, and they last longer than the stretch, so one is always under way. */
async function startBacktests(tested: Tested): Promise<() => Promise<void>> {
  const ids: string[] = []
  for (let count = 0; count < 3; count++) ids.push((await create(tested, 'gentle')).id)
  return async () => {
    for (const id of ids) await call(tested.workspace, 'DELETE', `${path}/${id}`, [204, 409])
  }
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
