import { fileURLToPath } from 'node:url'
import type { ClaimedBacktest } from '@automation/rules'
import type { Piscina } from 'piscina'
import type { FailedSlice } from './compute-slice.js'
import type { Slices } from './run-backtests.js'
import type { SliceOrder } from './slice-thread.js'

/** A thread without work ends after this time (ms). */
const idleMs = 60_000
/** Of its heap. */
const defaultMemoryMb = 192
/** Of one slice (ms), with the start of the thread: less than the lease of a backtest. */
const longestMs = 28_000

interface Settings extends Pick<SliceOrder, 'limits' | 'databaseUrl' | 'databaseLimits'> {
  /** Of the thread's heap. */
  memoryMb?: number
  /** The module of the thread. */
  filename?: string
}

/**
 * Computes slices of backtests in a thread of their own, with connections of its own: the evaluation of thousands of events, or one costly
 * event, holds no live event. There is a thread while there are backtests.
 *
 *   compute ─▶ the thread starts, or waits ─▶ the slice is stored, or given back
 *                └─▶ it cannot start: a delay    ├─▶ it takes too long: a failure, and the thread is ended
 *                                                └─▶ it takes too much memory: a failure, and the thread has ended
 */
export class SlicesInThread implements Slices {
  readonly #settings: Settings
  readonly #stopping = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  #pool: Piscina | undefined
  /** Ends the slice under way where its thread cannot start. */
  #giveUp: (fault: Error) => void = () => {}

  constructor(settings: Settings) {
    this.#settings = settings
  }

  async compute(claimed: ClaimedBacktest): ReturnType<Slices['compute']> {
    const ending = new AbortController()
    let startFault: Error | undefined
    this.#giveUp = (fault) => {
      startFault = fault
      ending.abort()
    }
    const timer = setTimeout(() => ending.abort(), longestMs)
    try {
      this.#pool ??= await this.#open().catch((fault) => {
        startFault = fault
        throw fault
      })
      const { limits, databaseUrl, databaseLimits } = this.#settings
      const order: SliceOrder = { claimed, limits, databaseUrl, databaseLimits, stopping: this.#stopping }
      return await this.#pool.run(order, { name: 'compute', signal: ending.signal })
    } catch (error) {
      return describeFault(startFault, error as NodeJS.ErrnoException)
    } finally {
      clearTimeout(timer)
      // What the pool has not begun must not begin later.
      ending.abort()
    }
  }

  stop(): void {
    Atomics.store(new Int32Array(this.#stopping), 0, 1)
  }

  async close(): Promise<void> {
    await this.#pool?.destroy()
  }

  async #open(): Promise<Piscina> {
    const { memoryMb = defaultMemoryMb, filename = './slice-thread.js' } = this.#settings
    const { Piscina } = await import('piscina')
    const pool = new Piscina({
      // The module of the thread is beside this one where each has a file, and beside the bundle (scripts/bundle.mjs).
      filename: fileURLToPath(new URL(filename, import.meta.url)),
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: idleMs,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
      // With atomics an idle thread sleeps without an event loop, and would not notice that Postgres has closed a connection.
      atomics: 'disabled',
      recordTiming: false,
    })
    // The pool emits this only for a thread that has no task yet, so for one that fails while it starts. It does not try again.
    pool.on('error', (fault) => this.#giveUp(fault))
    return pool
  }
}

function describeFault(startFault: Error | undefined, error: NodeJS.ErrnoException): FailedSlice {
  if (startFault !== undefined || error.code === 'ERR_WORKER_INIT_FAILED')
    return { why: 'delay', error: startFault ?? error }
  if (error.name === 'AbortError')
    return { why: 'failure', error: new Error(`A slice took longer than ${longestMs / 1_000} s`) }
  return { why: 'failure', error }
}
