import { fileURLToPath } from 'node:url'
import { FairSlots } from '@automation/database'
import type { Piscina } from 'piscina'
import { refusals } from '../errors.js'
import { type Bounds, isOverrun, type Overrun } from './bounds.js'
import { type Caller, takeTurn } from './take-turn.js'

type Thread = typeof import('./judge-thread.js')
export type Task = Exclude<keyof Thread, 'start'>
/** The judge adds the bounds. */
export type InputOf<Name extends Task> = Omit<Parameters<Thread[Name]>[0], keyof Bounds>
export type ResultOf<Name extends Task> = Exclude<ReturnType<Thread[Name]>, Overrun>

export interface JudgeLimits {
  /** Of one question. */
  timeoutMs: number
  /** Units of work of one question. */
  work: number
  /** MB of the thread's heap. */
  memoryMb: number
}

interface Reports {
  noteRefusal(reason: 'too_many' | 'too_much' | 'too_long' | 'too_large'): void
  /** The thread ended while it had nothing to do. */
  noteFault(error: Error): void
}

/** A burst of the default rate limit may wait. */
export const judgingTurns = { perOwner: 1, waitingPerOwner: 100, timeoutMs: 3_000 }
/** How many workspaces hold what they have read for a question: up to 16 MiB each. */
const maxReaders = 4
/** A question ends by itself when its time is over. A thread that is this many times as late is ended. */
const grace = 1.5
/** A thread that has not started by then (ms) never will. */
const longestStartMs = 15_000
/** A thread without requests ends after this time (ms): it takes some 30 MB. */
const idleMs = 60_000

/**
 * Judges on behalf of callers in a thread of its own: what one request may cost holds neither triggers nor the requests of other
 * workspaces. It has one thread at most, which it starts when it is needed, and workspaces take turns on it, one question of each at a time. A
 * question about much that is stored takes a turn before it reads that, so that what waits for the thread is small, or of few workspaces.
 *
 *   readAndAsk ─▶ waits for the workspace's turn to read ─▶ reads ─▶ run
 *
 *   run ─▶ waits for the workspace's turn ─▶ runs in the thread ─▶ result
 *    │      └─▶ too many, too long: 429       ├─▶ JUDGING_TIMEOUT or JUDGING_WORK is used up: a shorter result, or 400
 *    │                                        ├─▶ half as long again: 400, and the thread is ended
 *    │                                        └─▶ JUDGING_MEMORY is used up: 400, and the thread has ended
 *    └─▶ the caller is gone when its turn comes: not run
 */
export class Judge {
  readonly #limits: JudgeLimits
  readonly #reports: Reports
  readonly #slots = new FairSlots({ ...judgingTurns, total: 1 })
  readonly #readers = new FairSlots({ ...judgingTurns, total: maxReaders })
  #opening: Promise<Piscina> | undefined
  #pool: Piscina | undefined

  constructor(limits: JudgeLimits, reports: Reports) {
    this.#limits = limits
    this.#reports = reports
  }

  /** How many threads it has: one or none. */
  get threadCount(): number {
    return this.#pool?.threads.length ?? 0
  }

  /** @throws refusals: 429 where too many of the workspace wait, 400 for what takes too long or too much memory */
  run<Name extends Task>(caller: Caller, name: Name, input: InputOf<Name>): Promise<ResultOf<Name>> {
    return this.#takeTurn(this.#slots, caller, () => this.#judge(name, input))
  }

  /**
   * Runs work that reads much and asks about it. A workspace does so once at a time.
   *
   * @throws refusals: 429 where too many of the workspace wait
   */
  readAndAsk<Result>(caller: Caller, work: () => Promise<Result>): Promise<Result> {
    return this.#takeTurn(this.#readers, caller, work)
  }

  #takeTurn<Result>(slots: FairSlots, caller: Caller, work: () => Promise<Result>): Promise<Result> {
    const refuse = () => {
      this.#reports.noteRefusal('too_many')
      return refusals.tooManyJudgings(judgingTurns)
    }
    return takeTurn(slots, caller, work, refuse, this.#longestWaitMs(caller))
  }

  /** A question that has several turns still has time for each that it waits for: it is refused rather than late. */
  #longestWaitMs({ dueAt }: Caller): number {
    const reserveMs = Math.min(this.#limits.timeoutMs * grace, judgingTurns.timeoutMs)
    return Math.min(judgingTurns.timeoutMs, dueAt - performance.now() - reserveMs)
  }

  async #judge<Name extends Task>(name: Name, input: InputOf<Name>): Promise<ResultOf<Name>> {
    const result = await this.#runInThread(name, input)
    if (!isOverrun(result)) return result as ResultOf<Name>
    const { timeoutMs, work } = this.#limits
    this.#reports.noteRefusal(result.overrun === 'ms' ? 'too_long' : 'too_much')
    throw result.overrun === 'ms' ? refusals.judgingTooLong(timeoutMs) : refusals.judgingTooMuch(work)
  }

  async #runInThread<Name extends Task>(name: Name, input: InputOf<Name>): Promise<ReturnType<Thread[Name]>> {
    const { timeoutMs, work, memoryMb } = this.#limits
    const bounds: Bounds = { bounds: { units: work, ms: timeoutMs } }
    this.#opening ??= this.#open()
    const pool = await this.#opening
    if (pool.threads.length === 0) await this.#start(pool)
    const signal = AbortSignal.timeout(Math.ceil(timeoutMs * grace))
    try {
      return await pool.run({ ...input, ...bounds }, { name, signal })
    } catch (error) {
      if (signal.aborted) {
        this.#reports.noteRefusal('too_long')
        throw refusals.judgingTooLong(timeoutMs)
      }
      if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') {
        this.#reports.noteRefusal('too_large')
        throw refusals.judgingTooLarge(memoryMb)
      }
      throw error
    }
  }

  /** A thread that ends while it starts rejects nothing. */
  async #start(pool: Piscina): Promise<void> {
    try {
      await pool.run(undefined, { name: 'start', signal: AbortSignal.timeout(longestStartMs) })
    } catch (error) {
      this.#reports.noteFault(error as Error)
      throw refusals.unavailable(error as Error)
    }
  }

  async #open(): Promise<Piscina> {
    const { Piscina } = await import('piscina')
    this.#pool = new Piscina({
      // Beside this module among those of tsc, and beside the bundle (scripts/bundle.mjs).
      filename: fileURLToPath(new URL('./judge-thread.js', import.meta.url)),
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: idleMs,
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.memoryMb },
      recordTiming: false,
    })
    this.#pool.on('error', this.#reports.noteFault)
    return this.#pool
  }

  /** Call it when no request is left. */
  async close(): Promise<void> {
    await (await this.#opening)?.destroy()
  }
}
