import { setTimeout as delay } from 'node:timers/promises'

export interface Clock {
  /** Milliseconds. */
  now(): number
  sleep(ms: number): Promise<void>
}

/** A call that was due `dueMs` after the start, and ended `waitMs` after it was due. */
export interface Wait {
  dueMs: number
  waitMs: number
}

export interface OpenLoopOptions {
  ratePerSecond: number
  /** Makes the call number n. A rejection is a failure. */
  send: (n: number) => Promise<void>
  /** The number of calls; without it, the loop goes on until it is stopped. */
  count?: number
  /** With more calls under way than this the loop ends, because the server cannot keep up. */
  maxUnderWay?: number
  clock?: Clock
}

const realClock: Clock = {
  now: () => performance.now(),
  sleep: async (ms) => {
    await delay(Math.max(1, ms))
  },
}

/**
 * Calls that are due at a fixed rate, with or without responses to the earlier ones. Each wait is measured from the moment at which the
 * call was due: a server that stalls is charged with all calls that were due meanwhile, and not only with those that were under way
 * (no coordinated omission).
 */
export function startOpenLoop(options: OpenLoopOptions): OpenLoop {
  return new OpenLoop(options)
}

export class OpenLoop {
  readonly #options: Required<OpenLoopOptions>
  readonly #sending: Promise<void>
  readonly #underWay = new Set<Promise<void>>()
  #waits: Wait[] = []
  #isOver = false
  #isOverrun = false
  #failures = 0
  #firstFailure: unknown
  #latestMs = 0

  constructor(options: OpenLoopOptions) {
    const unlimited = Number.POSITIVE_INFINITY
    this.#options = { count: unlimited, maxUnderWay: unlimited, clock: realClock, ...options }
    this.#sending = this.#sendAll()
  }

  /** The waits that ended since the last call. */
  take(): Wait[] {
    const taken = this.#waits
    this.#waits = []
    return taken
  }

  /** Waits until all calls were made, and for the outstanding responses. */
  async finish(): Promise<{
    waits: Wait[]
    isOverrun: boolean
    failures: number
    firstFailure: unknown
    /** How late (ms) the latest call was made: the caller's own delay, which its wait contains. */
    latestMs: number
  }> {
    await this.#sending
    await Promise.all(this.#underWay)
    return {
      waits: this.take(),
      isOverrun: this.#isOverrun,
      failures: this.#failures,
      firstFailure: this.#firstFailure,
      latestMs: this.#latestMs,
    }
  }

  /** Makes no more calls, and waits for the outstanding responses. */
  async stop(): ReturnType<OpenLoop['finish']> {
    this.#isOver = true
    return this.finish()
  }

  async #sendAll(): Promise<void> {
    const { ratePerSecond, count, maxUnderWay, clock } = this.#options
    const startedAt = clock.now()
    for (let n = 0; n < count && !this.#isOver; ) {
      const dueMs = (n * 1_000) / ratePerSecond
      const lateMs = clock.now() - startedAt - dueMs
      if (lateMs < 0) {
        await clock.sleep(-lateMs)
        continue
      }
      this.#isOverrun = this.#underWay.size >= maxUnderWay
      if (this.#isOverrun) return
      this.#latestMs = Math.max(this.#latestMs, lateMs)
      const call = this.#call(n, dueMs, startedAt)
      this.#underWay.add(call)
      void call.then(() => this.#underWay.delete(call))
      n++
    }
  }

  async #call(n: number, dueMs: number, startedAt: number): Promise<void> {
    const { send, clock } = this.#options
    try {
      await send(n)
      this.#waits.push({ dueMs, waitMs: clock.now() - startedAt - dueMs })
    } catch (error) {
      this.#firstFailure ??= error
      this.#failures++
    }
  }
}
