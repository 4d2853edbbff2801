import { setTimeout as delay } from 'node:timers/promises'
import { measureCpu, type Pids } from '../cpu-time.js'
import type { Stage } from '../product.js'
import type { Figures } from '../table.js'
import { call, create, path, type Tested } from './tested-rule.js'

const lookEveryMs = 10
const limitMs = 300_000

/** Computes one backtest at full pace. Its time begins when the worker has it, the first figures when it is asked for. */
export async function measurePace(
  { postgres, profiles }: Stage,
  pids: Pids,
  label: string,
  tested: Tested,
): Promise<Figures> {
  await postgres.query('CHECKPOINT')
  return profiles.during(label, pids, async () => {
    const askedAt = performance.now()
    const { id } = await create(tested, 'full')
    let [beganAt, firstAt] = [0, 0]
    let costs = measureCpu(pids)
    for (;;) {
      const { status, report } = await call(tested.workspace, 'GET', `${path}/${id}`)
      const now = performance.now()
      if (status !== 'waiting' && beganAt === 0) {
        beganAt = now
        costs = measureCpu(pids)
      }
      if (report !== null && firstAt === 0) firstAt = now
      if (status === 'done' && report !== null) {
        const { scanned, considered } = report
        const seconds = (now - beganAt) / 1_000
        return {
          ...{ 'scanned/s': scanned / seconds, 'considered/s': considered / seconds },
          'first figures ms': firstAt - askedAt,
          ...costs(scanned),
        }
      }
      if (status === 'failed' || now - askedAt > limitMs) throw new Error(`The backtest is ${status}`)
      await delay(lookEveryMs)
    }
  })
}
