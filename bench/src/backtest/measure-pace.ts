import { setTimeout as delay } from 'node:timers/promises'
import { pidsOf, readCpuMicros } from '../cpu-time.js'
import type { Pace } from './report.js'
import { call, create, path, type Stage, type Tested } from './tested-rule.js'

const lookEveryMs = 10
const limitMs = 300_000

/** Computes one backtest at full pace. */
export async function measurePace(stage: Stage, name: Pace['name'], tested: Tested): Promise<Pace> {
  const { product, api, worker, postgres } = stage
  await postgres.query('CHECKPOINT')
  const pids = pidsOf(product, [api], [worker])
  const askedAt = performance.now()
  const { id } = await create(tested, 'full')
  let [beganAt, firstAt] = [0, 0]
  let before = readCpuMicros(pids)
  for (;;) {
    const { status, report } = await call(tested.workspace, 'GET', `${path}/${id}`)
    const now = performance.now()
    if (status !== 'waiting' && beganAt === 0) {
      beganAt = now
      before = readCpuMicros(pids)
    }
    if (report !== null && firstAt === 0) firstAt = now
    if (status === 'done' && report !== null) {
      const after = readCpuMicros(pids)
      const { scanned, considered } = report
      return {
        name,
        scanned,
        considered,
        seconds: (now - beganAt) / 1_000,
        firstFiguresMs: firstAt - askedAt,
        workerMicros: (after.worker ?? 0) - (before.worker ?? 0),
        postgresMicros: (after.postgres ?? 0) - (before.postgres ?? 0),
      }
    }
    if (status === 'failed' || now - askedAt > limitMs) throw new Error(`The backtest is ${status}`)
    await delay(lookEveryMs)
  }
}
