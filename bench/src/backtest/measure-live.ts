import { fork } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { measureCpu, pidsOf } from '../cpu-time.js'
import { startQuietCallers } from '../load/quiet-callers.js'
import type { Stage } from '../product.js'
import { waitsOf } from '../statistics.js'
import type { Figures } from '../table.js'
import { triggerPath } from '../usual-case.js'
import type { Workspace } from '../workspace.js'
import { call, create, path, type Tested } from './tested-rule.js'

interface Live {
  label: string
  /** What runs meanwhile. */
  kind: 'alone' | 'gentle' | 'busy'
  tested: Tested
  /** Each posts an event a second and waits for its outcome. */
  callers: Workspace[]
  seconds: number
}

const warmUpMs = 2_000

/** The waits of live events: alone, during a gentle backtest, or beside a process that uses as much CPU and has nothing to do with them. */
export async function measureLive(
  { product, profiles }: Stage,
  { label, kind, tested, callers, seconds }: Live,
): Promise<Figures> {
  const posting = startQuietCallers(callers[0]?.baseUrl ?? '', callers, triggerPath)
  const end = await starts[kind](tested)
  try {
    await delay(warmUpMs)
    const pids = pidsOf(product, product.apis, product.workers)
    return await profiles.during(label, pids, async () => {
      posting.take()
      const costs = measureCpu(pids)
      await delay(seconds * 1_000)
      const { worker = Number.NaN } = costs()
      const { p50Ms, p95Ms, p99Ms } = waitsOf(posting.take())
      return {
        ...{ 'p50 ms': p50Ms, 'p95 ms': p95Ms, 'p99 ms': p99Ms },
        'core of the worker %': worker / seconds / 1e4,
      }
    })
  } finally {
    await end()
    await posting.stop()
  }
}

/** Each begins what runs meanwhile, and returns what ends it. */
const starts: Record<Live['kind'], (tested: Tested) => Promise<() => Promise<unknown>>> = {
  alone: async () => async () => {},
  gentle: startBacktests,
  busy: async () => {
    const loop = fork(fileURLToPath(new URL('../load/busy-loop.js', import.meta.url)))
    return async () => loop.kill('SIGKILL')
  },
}

/** Starts three: a worker computes one at a time, and they last longer than the measurement, so one is always running. */
async function startBacktests(tested: Tested): Promise<() => Promise<void>> {
  const ids: string[] = []
  for (let count = 0; count < 3; count++) ids.push((await create(tested, 'gentle')).id)
  return async () => {
    for (const id of ids) await call(tested.workspace, 'DELETE', `${path}/${id}`, [204, 409])
  }
}
