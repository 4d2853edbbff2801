import { FairSlots, ownerOf, TooMuchAtOnce } from '@automation/admission'
import { LRUCache } from 'lru-cache'
import type { Caller } from '../calls/lanes.js'
import { Postponed } from './heavy-work.js'
import type { LatestOwners } from './latest-owners.js'

/** So much work of one owner is under way at a time where others have some, too, when a burst of it begins. */
const atFirst = 25
/** For so much done work of a burst one more is under way: after thousands its code is compiled, and its throughput counts. */
const perFurther = 20
/** More at a time has little more throughput, and longer turns. */
const mostAtATime = 100
/** How long (ms) work may wait for that before it. */
const lineTimeoutMs = 600_000
/** When (ms) what has waited too long comes back. */
const postponeMs = 1_000

/** So much done work of a second counts for nothing: a trickle is no flood. */
const leakPerSecond = 200
const maxOwners = 10_000

interface Level {
  /** Work done, less what has leaked since. */
  done: number
  /** ms, by the clock. */
  at: number
}

/**
 * Keeps the burst of one owner from holding the event loop: the response to a statement for a hundred events would run a hundred continuations in one
 * turn. A flood that lasts is limited less, and an owner that has the worker to itself is not limited.
 */
export class UnderWay {
  readonly #latest: LatestOwners
  readonly #atMost: number
  readonly #now: () => number
  /** By owner. */
  readonly #levels = new LRUCache<string, Level>({ max: maxOwners })
  readonly #slots = new FairSlots({
    total: Number.POSITIVE_INFINITY,
    perOwner: (owner) => this.#findLimit(owner),
    waitingPerOwner: Number.POSITIVE_INFINITY,
    timeoutMs: lineTimeoutMs,
  })
  #isStopped = false

  /**
   * @param latest the owners of all work of this worker
   * @param atMost how much work of an owner is under way beside others, however long its burst lasts
   * @param now ms, by a monotonic clock
   */
  constructor(latest: LatestOwners, atMost = mostAtATime, now: () => number = () => performance.now()) {
    this.#latest = latest
    this.#atMost = atMost
    this.#now = now
  }

  /**
   * Runs work when less is under way. It must not contain other work of its owner, nor hold what others need while it waits here.
   *
   * @param work gets the time (ms) for which it has waited. It may leave before it ends: what takes long has turns of its own (heavy-work.ts), and
   * must not stop its owner's other workspaces
   * @throws Postponed where it has waited too long, or has not begun when this is stopped
   */
  async run<Result>(
    caller: Caller,
    work: (leave: () => void, waitedMs: number) => Promise<Result>,
  ): Promise<Result> {
    const owner = ownerOf(caller)
    this.#latest.note(owner)
    const askedAt = performance.now()
    await this.#slots.enter(owner)?.catch((error) => {
      throw error instanceof TooMuchAtOnce ? new Postponed(postponeMs) : error
    })
    const begunAt = performance.now()
    let hasLeft = false
    const leave = () => {
      if (!hasLeft) this.#slots.leave(owner, performance.now() - begunAt)
      hasLeft = true
    }
    try {
      if (this.#isStopped) throw new Postponed(0)
      const result = await work(leave, begunAt - askedAt)
      this.#countDone(owner)
      return result
    } finally {
      leave()
    }
  }

  /** From now on what waits is postponed: another worker runs it. */
  stop(): void {
    this.#isStopped = true
  }

  #findLimit(owner: string): number {
    if (!this.#latest.areBeside(owner)) return Number.POSITIVE_INFINITY
    return Math.min(atFirst + Math.floor(this.#findDone(owner) / perFurther), this.#atMost)
  }

  #findDone(owner: string): number {
    const level = this.#levels.get(owner)
    if (level === undefined) return 0
    return Math.max(0, level.done - ((this.#now() - level.at) / 1_000) * leakPerSecond)
  }

  #countDone(owner: string): void {
    const most = (mostAtATime - atFirst) * perFurther
    this.#levels.set(owner, { done: Math.min(this.#findDone(owner) + 1, most), at: this.#now() })
  }
}
