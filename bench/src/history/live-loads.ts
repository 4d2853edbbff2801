import { setTimeout as delay } from 'node:timers/promises'
import { type AttachedLeaf, clockSkewMs, firstIdOf } from '@automation/database'
import type { Product } from '@automation/launcher'
import { drainBacklog } from '../backlog.js'
import { pidsOf } from '../cpu-time.js'
import { type Load, startLoad } from '../load/load.js'
import { warmUp } from '../load/warm-up.js'
import { describeOpenLoad, observe } from '../sustained/observe.js'
import type { Figures } from '../table.js'
import { eventData, triggerPath } from '../usual-case.js'
import { readPastWeeks } from './make-weeks.js'
import type { Past } from './open-histories.js'
import { readRowWork } from './storage.js'

/** One of the workspaces keeps its history for a year: retention leaves rows between those that it removes. */
const longDays = 365
const dayMs = 24 * 60 * 60 * 1_000
/** An event and its execution. Tasks are kept for a year at least. */
const rowsOfEvent = 2
const connections = 128
/** Of the capacity of a closed loop, which is measured once, for such a part of the seconds. */
const liveShare = 1 / 2
const capacityPart = 1 / 5
const pollMs = 100
/** A week of 30 million events in 60 days has gone by then. */
const limitMs = 60 * 60 * 1_000

const preload = new URL('./round-at-once-process.js', import.meta.url)

export const alone = { label: 'live load, alone' }
export const besideRetention = { label: 'live load, beside retention' }

/** Loads at one rate: with a worker that removes old history meanwhile, and with one that does not. */
export class LiveLoads {
  readonly #servers: Product
  readonly #past: Past
  #ratePerSecond: number | undefined

  constructor(servers: Product, past: Past) {
    this.#servers = servers
    this.#past = past
  }

  measureAlone(seconds: number): Promise<Figures> {
    return this.#during({}, seconds, (measureLoad) => measureLoad(alone.label))
  }

  /**
   * Lets one more week of history become old, and measures loads until all workspaces but the one that keeps it have lost it.
   *
   * @param add gets the figures of each load
   * @returns those of the week, from the start of the worker that removes it
   */
  async measureRetention(seconds: number, add: (figures: Figures) => void): Promise<Figures> {
    const { postgres } = this.#past.stage
    await this.#keepOneForLong()
    const leaf = await this.#findOldestWeek()
    const rows = rowsOfEvent * (await this.#countRemoved(leaf))
    const { removed: removedBefore } = await readRowWork(postgres)
    const startedAt = performance.now()
    const loads: Figures[] = []
    let goneAt: number | undefined
    await this.#during(this.#settingsFor(leaf), seconds, async (measureLoad) => {
      const gone = this.#untilGone(leaf).then(() => {
        goneAt = performance.now()
      })
      do {
        const figures = await measureLoad(besideRetention.label)
        loads.push(figures)
        add(figures)
      } while (goneAt === undefined)
      await gone
    })
    const s = ((goneAt ?? Number.NaN) - startedAt) / 1_000
    const addedPerSecond =
      (rowsOfEvent * loads.reduce((sum, load) => sum + (load['done/s'] ?? 0), 0)) / loads.length
    const { removed } = await readRowWork(postgres)
    return {
      ...{ s, rows, 'rows/s': rows / s, 'removed, of added': rows / s / addedPerSecond },
      'removed one by one': removed - removedBefore,
    }
  }

  async #keepOneForLong(): Promise<void> {
    const { stage, workspaces } = this.#past
    await stage.postgres.query('UPDATE workspaces SET retention_days = $2 WHERE id = $1', [
      workspaces.at(-1)?.id,
      longDays,
    ])
  }

  /** Of a worker that begins with retention at its start, and takes this week for old, but not the next one. */
  #settingsFor({ to }: AttachedLeaf): Record<string, string> {
    const { NODE_OPTIONS = '' } = this.#past.stage.product.env
    return {
      RETENTION_DAYS: `${Math.floor((Date.now() - clockSkewMs - to) / dayMs)}`,
      NODE_OPTIONS: `${NODE_OPTIONS} --import=${preload}`.trim(),
    }
  }

  /** The oldest week of which somebody has rows who does not keep them. */
  async #findOldestWeek(): Promise<AttachedLeaf> {
    for (const leaf of await readPastWeeks(this.#past.stage.postgres))
      if (await this.#hasRows(leaf)) return leaf
    throw new Error('No week of history is left: fewer --rounds, please')
  }

  async #countRemoved({ to }: AttachedLeaf): Promise<number> {
    const { stage, workspaces } = this.#past
    const { rows } = await stage.postgres.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM events WHERE id < $1::uuid AND workspace_id <> $2::uuid',
      [firstIdOf(to), workspaces.at(-1)?.id],
    )
    return rows[0]?.count ?? Number.NaN
  }

  async #untilGone(leaf: AttachedLeaf): Promise<void> {
    const endsAt = performance.now() + limitMs
    while (await this.#hasRows(leaf)) {
      if (performance.now() > endsAt) throw new Error(`Rows of ${leaf.name} are still there`)
      await delay(pollMs)
    }
  }

  /** Whether there are rows of its time, or earlier ones, of workspaces that do not keep them. */
  async #hasRows({ to }: AttachedLeaf): Promise<boolean> {
    const { stage, workspaces } = this.#past
    const { rows } = await stage.postgres.query(
      `SELECT FROM unnest($1::uuid[]) AS workspace (id)
       CROSS JOIN LATERAL (
         SELECT FROM events WHERE workspace_id = workspace.id AND (workspace_id, id) < (workspace.id, $2::uuid) LIMIT 1
       ) AS oldest LIMIT 1`,
      [workspaces.slice(0, -1).map(({ id }) => id), firstIdOf(to)],
    )
    return rows.length > 0
  }

  /** @param env of the worker */
  async #during<Result>(
    env: Record<string, string>,
    seconds: number,
    run: (measureLoad: (label: string) => Promise<Figures>) => Promise<Result>,
  ): Promise<Result> {
    const { stage, workspaces } = this.#past
    const { product } = stage
    // That of the measurements before.
    await Promise.all(product.workers.map((worker) => worker.stop()))
    const worker = await product.startWorker(env)
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
      const rate = this.#ratePerSecond
      // New connections are opened before they are measured.
      await load.runOpen(1, rate)
      await drainBacklog(stage.database)
      return await run((label) => observe(stage, label, pids, () => this.#run(load, seconds, rate)))
    } finally {
      await load.stop()
      await worker.stop()
    }
  }

  async #run(load: Load, seconds: number, ratePerSecond: number) {
    const { database, postgres } = this.#past.stage
    const before = await readRowWork(postgres)
    const result = await load.runOpen(seconds, ratePerSecond)
    await drainBacklog(database)
    const { requests, failures, firstFailure } = result
    if (failures > 0) throw new Error(`${failures} failures; the first: ${firstFailure}`)
    const after = await readRowWork(postgres)
    const updated = after.updated - before.updated
    return {
      requests,
      figures: {
        'due/s': ratePerSecond,
        ...describeOpenLoad(result),
        ...(updated > 0 && { 'HOT %': (100 * (after.updatedHot - before.updatedHot)) / updated }),
      },
    }
  }
}

async function findRate(load: Load, seconds: number): Promise<number> {
  const { requests, elapsedSeconds } = await load.run(seconds * capacityPart)
  return (requests / elapsedSeconds) * liveShare
}
