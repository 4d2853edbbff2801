import { clockSkewMs, firstIdOf } from '@automation/database'
import type { NodeProcess, Product } from '@automation/launcher'
import { drainBacklog } from '../backlog.js'
import { pidsOf } from '../cpu-time.js'
import { type Load, startLoad } from '../load/load.js'
import { warmUp } from '../load/warm-up.js'
import { describeOpenLoad, observe } from '../sustained/observe.js'
import type { Figures } from '../table.js'
import { eventData, triggerPath } from '../usual-case.js'
import type { Past } from './open-histories.js'
import { readRowWork } from './storage.js'

const keptDays = 30
/** One of the workspaces keeps its history for a year: retention leaves rows between those that it removes. */
const longDays = 365
const dayMs = 24 * 60 * 60 * 1_000
/** An event and its execution. Tasks are kept for a year at least. */
const rowsOfEvent = 2
const connections = 128
/** Of the capacity of a closed loop, which is measured once, for such a part of the seconds. */
const liveShare = 1 / 2
const capacityPart = 1 / 5

const preload = new URL('./round-at-once-process.js', import.meta.url)

export const liveLoads = [
  { label: 'live load, alone', removes: false },
  { label: 'live load, beside retention', removes: true },
]

/** Loads at one rate: with a worker that removes old history meanwhile, and with one that does not. */
export class LiveLoads {
  readonly #servers: Product
  readonly #past: Past
  #ratePerSecond: number | undefined

  constructor(servers: Product, past: Past) {
    this.#servers = servers
    this.#past = past
  }

  async measure({ label, removes }: (typeof liveLoads)[number], seconds: number): Promise<Figures> {
    const { stage, workspaces } = this.#past
    const { product } = stage
    await this.#keepOneForLong()
    // That of the measurements before.
    await Promise.all(product.workers.map((worker) => worker.stop()))
    const worker = await this.#startWorker(removes)
    const pids = pidsOf(this.#servers, product.apis, [worker])
    const load = startLoad({
      origins: product.apis.map(({ baseUrl }) => baseUrl),
      requests: workspaces.map(({ headers }) => ({
        ...{ path: triggerPath, headers, payload: JSON.stringify({ data: eventData }) },
      })),
      ...{ expectedStatus: 200, connections },
    })
    try {
      await warmUp(load, pids)
      this.#ratePerSecond ??= await findRate(load, seconds)
      // New connections are opened before they are measured.
      await load.runOpen(1, this.#ratePerSecond)
      await drainBacklog(stage.database)
      const run = () => this.#run(load, seconds, this.#ratePerSecond ?? Number.NaN)
      const figures = await observe(stage, label, pids, run)
      return removes ? { ...figures, ...(await this.#describeRemoval(figures)) } : figures
    } finally {
      await load.stop()
      await worker.stop()
    }
  }

  async #keepOneForLong(): Promise<void> {
    const { stage, workspaces } = this.#past
    await stage.postgres.query('UPDATE workspaces SET retention_days = $2 WHERE id = $1', [
      workspaces.at(-1)?.id,
      longDays,
    ])
  }

  #startWorker(removes: boolean): Promise<NodeProcess> {
    const { product } = this.#past.stage
    if (!removes) return product.startWorker()
    const options = `${product.env.NODE_OPTIONS ?? ''} --import=${preload}`.trim()
    return product.startWorker({ RETENTION_DAYS: `${keptDays}`, NODE_OPTIONS: options })
  }

  async #run(load: Load, seconds: number, ratePerSecond: number) {
    const { database, postgres } = this.#past.stage
    const before = await readRowWork(postgres)
    const startedAt = performance.now()
    const result = await load.runOpen(seconds, ratePerSecond)
    await drainBacklog(database)
    const elapsedSeconds = (performance.now() - startedAt) / 1_000
    const { requests, failures, firstFailure } = result
    if (failures > 0) throw new Error(`${failures} failures; the first: ${firstFailure}`)
    const after = await readRowWork(postgres)
    const updated = after.updated - before.updated
    return {
      requests,
      figures: {
        'due/s': ratePerSecond,
        ...describeOpenLoad(result),
        'removed rows/s': (after.removed - before.removed) / elapsedSeconds,
        ...(updated > 0 && { 'HOT %': (100 * (after.updatedHot - before.updatedHot)) / updated }),
      },
    }
  }

  /** What was removed is a rate only if something was left to remove at the end. */
  async #describeRemoval(figures: Figures): Promise<Figures> {
    if ((await readRowWork(this.#past.stage.postgres)).removed === 0)
      throw new Error('Retention has removed nothing since the worker started')
    if (!(await this.#hasOldEvents())) {
      console.error('Retention had nothing left to remove: that rate needs more --stored, or fewer --seconds')
      return { 'removed rows/s': Number.NaN }
    }
    const { 'removed rows/s': removed = Number.NaN, 'done/s': done = Number.NaN } = figures
    return { 'removed, of added': removed / (done * rowsOfEvent) }
  }

  async #hasOldEvents(): Promise<boolean> {
    const { stage, workspaces } = this.#past
    // Retention spares an hour for the difference of two clocks.
    const before = firstIdOf(Date.now() - keptDays * dayMs - 2 * clockSkewMs)
    for (const { id } of workspaces.slice(0, -1)) {
      const { rows } = await stage.postgres.query(
        'SELECT FROM events WHERE (workspace_id, id) < ($1::uuid, $2::uuid) AND workspace_id = $1::uuid LIMIT 1',
        [id, before],
      )
      if (rows.length > 0) return true
    }
    return false
  }
}

async function findRate(load: Load, seconds: number): Promise<number> {
  const { requests, elapsedSeconds } = await load.run(seconds * capacityPart)
  return (requests / elapsedSeconds) * liveShare
}
