import { fileURLToPath } from 'node:url'
import type { ClaimedBacktest } from '@automation/rules'
import type { Piscina } from 'piscina'
import type { FailedSlice } from './compute-slice.js'
import type { Slices } from './run-backtests.js'
import type { SliceOrder } from './slice-thread.js'

type Settings = Pick<SliceOrder, 'limits' | 'databaseUrl'>

/** A thread without work ends after this time (ms). */
const idleMs = 60_000
/** Of its heap. */
const defaultMemoryMb = 192

/**
 * Computes slices of backtests in a thread of their own, with connections of its own: the judging of thousands of events, or one costly
 * event, holds no live event. There is a thread while there are backtests.
 */
export class SlicesInThread implements Slices {
  readonly #settings: Settings
  readonly #memoryMb: number
  readonly #stopping = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  #opening: Promise<Piscina> | undefined

  /** @param memoryMb of the thread's heap: a slice that needs more fails, and its worker goes on */
  constructor(settings: Settings, memoryMb = defaultMemoryMb) {
    this.#settings = settings
    this.#memoryMb = memoryMb
  }

  async compute(claimed: ClaimedBacktest): ReturnType<Slices['compute']> {
    this.#opening ??= openPool(this.#memoryMb)
    const pool = await this.#opening
    const order: SliceOrder = { claimed, ...this.#settings, stopping: this.#stopping }
    // What ends the thread rejects its task.
    return pool
      .run(order, { name: 'compute' })
      .catch((error: Error): FailedSlice => ({ why: 'failure', error }))
  }

  stop(): void {
    Atomics.store(new Int32Array(this.#stopping), 0, 1)
  }

  async close(): Promise<void> {
    await (await this.#opening)?.destroy()
  }
}

async function openPool(memoryMb: number): Promise<Piscina> {
  const { Piscina } = await import('piscina')
  const pool = new Piscina({
    // Beside this module among those of tsc, and beside the bundle (scripts/bundle.mjs).
    filename: fileURLToPath(new URL('./slice-thread.js', import.meta.url)),
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: idleMs,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    recordTiming: false,
  })
  // What ends the thread rejects its task, too.
  pool.on('error', () => {})
  return pool
}
