import { drainBacklog } from '../backlog.js'
import { type Benchmark, choose } from '../benchmark.js'
import { clearTraces } from '../clear-traces.js'
import { type Pids, pidsOf } from '../cpu-time.js'
import { type Load, type LoadRequest, startLoad } from '../load/load.js'
import { warmUp } from '../load/warm-up.js'
import { runOnProduct, type Stage } from '../product.js'
import { orderOfRound } from '../rounds.js'
import { type Figures, formatNumber, Table } from '../table.js'
import { describeOpenLoad, observe } from './observe.js'
import { isSustained, sustainedShares, waitShares } from './steps.js'
import { createTenants } from './tenants.js'

const modes = [
  { label: 'sync', prefer: 'wait=30', expectedStatus: 200 },
  { label: 'async', prefer: 'respond-async', expectedStatus: 202 },
]
type Mode = (typeof modes)[number]

const closedConnections = 128
/** An open loop may have more callers at a time than a closed one. */
const openConnections = 512
const waitsPart = 1 / 5
const capacityPart = 1 / 10

/** Events of many workspaces at a fixed rate, with everything switched on that is on in production. */
export const sustained: Benchmark = {
  about: 'events at fixed rates, of 50 workspaces, with worker, checkpoints and autovacuum',
  seconds: 300,
  rounds: 1,
  async run(options) {
    const measurements = choose(modes, options.only)
    return runOnProduct(options, { workers: 1 }, async (stage) => {
      const requests = await createTenants(stage.database, stage.product)
      const table = new Table()
      for (let round = 1; round <= options.rounds; round++)
        for (const mode of orderOfRound(measurements, round))
          await new Steps(stage, mode, requests, table).run(options.seconds)
      return { tables: [table] }
    })
  },
}

/** The steps of one round: the capacity, the waits at shares of it, and then the share that is sustained. */
class Steps {
  readonly #stage: Stage
  readonly #mode: Mode
  readonly #table: Table
  readonly #pids: Pids
  /** 128 callers who each send their next event after the last response. */
  readonly #closed: Load
  readonly #open: Load

  constructor(stage: Stage, mode: Mode, requests: LoadRequest[], table: Table) {
    this.#stage = stage
    this.#mode = mode
    this.#table = table
    const { apis, workers } = stage.product
    this.#pids = pidsOf(stage.product, apis, workers)
    const { prefer, expectedStatus } = mode
    const order = {
      origins: apis.map(({ baseUrl }) => baseUrl),
      requests: requests.map((request) => ({ ...request, headers: { ...request.headers, prefer } })),
      expectedStatus,
    }
    this.#closed = startLoad({ ...order, connections: closedConnections })
    this.#open = startLoad({ ...order, connections: openConnections })
  }

  /** The tables are emptied once, before the first step. */
  async run(seconds: number): Promise<void> {
    try {
      await clearTraces(this.#stage)
      const capacity = await this.#measureCapacity(seconds * capacityPart)
      for (const share of waitShares) await this.#measureShare(share, capacity, seconds * waitsPart)
      for (const share of sustainedShares) if (await this.#measureShare(share, capacity, seconds)) break
    } finally {
      await Promise.all([this.#closed.stop(), this.#open.stop()])
    }
  }

  async #measureCapacity(seconds: number): Promise<number> {
    await warmUp(this.#closed, this.#pids)
    await drainBacklog(this.#stage.database)
    const figures = await this.#observe(`capacity, closed loop, ${formatNumber(seconds)} s`, async () => {
      const { requests } = await this.#closed.run(seconds)
      await drainBacklog(this.#stage.database)
      return { requests, figures: {} }
    })
    return figures['done/s'] ?? 0
  }

  /** @returns whether the rate was sustained */
  async #measureShare(share: number, capacity: number, seconds: number): Promise<boolean> {
    const ratePerSecond = capacity * share
    // New connections are opened before they are measured.
    await this.#open.runOpen(1, ratePerSecond)
    await drainBacklog(this.#stage.database)
    const { sustained } = await this.#observe(
      `${Math.round(100 * share)} % of it, ${formatNumber(seconds)} s`,
      async () => {
        const result = await this.#open.runOpen(seconds, ratePerSecond)
        const answeredAt = performance.now()
        await drainBacklog(this.#stage.database)
        const drainSeconds = (performance.now() - answeredAt) / 1_000
        if (result.failures > 0)
          console.error(`${result.failures} failures; the first: ${result.firstFailure}`)
        const wasSustained = isSustained({ ...result, seconds, drainSeconds })
        const figures = {
          'due/s': ratePerSecond,
          sustained: wasSustained ? 1 : 0,
          ...describeOpenLoad(result),
        }
        return { requests: result.requests, figures }
      },
    )
    return sustained === 1
  }

  async #observe(step: string, run: () => Promise<{ requests: number; figures: Figures }>): Promise<Figures> {
    const label = `${this.#mode.label}, ${step}`
    const all = await observe(this.#stage, label, this.#pids, run)
    this.#table.add(label, all)
    return all
  }
}
