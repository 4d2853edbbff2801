import { FairSlots, TooMuchAtOnce } from '@automation/database'
import { LRUCache } from 'lru-cache'
import { type Caller, ownerOf } from '../calls/lanes.js'
import { Postponed } from './heavy-work.js'
import type { LatestOwners } from './latest-owners.js'

/** So much work of one owner is under way at a time where others have some, too, when a burst of it begins. */
const atFirst = 25
/** For so much done work of a burst one more is under way: after thousands its code is compiled, and its throughput counts. */
const perFurther = 20
/** More at a time has little more throughput, and longer turns. */
const atMost = 100
/** How long (ms) work may wait for that before it. */
const lineTimeoutMs = 600_000
/** When (ms) what has waited too long comes back. */
const postponeMs = 1_000

/** After so long (ms) without work of an owner its next work is another burst. */
const burstEndMs = 1_000
const maxOwners = 10_000

interface Burst {
  done: number
  /** When work of it last ended or began (ms). */
  at: number
}

/**
 * Keeps the burst of one owner from holding the event loop: the response to a statement for a hundred events would run a hundred continuations in one
 * turn. A flood that lasts is limited less, and an owner that has the worker to itself is not limited.
 */
export class UnderWay {
  readonly #latest: LatestOwners
  /** The latest of each owner. */
  readonly #bursts = new LRUCache<string, Burst>({ max: maxOwners })
  readonly #slots = new FairSlots({
    total: Number.POSITIVE_INFINITY,
    perOwner: (owner) => this.#findLimit(owner),
    waitingPerOwner: Number.POSITIVE_INFINITY,
    timeoutMs: lineTimeoutMs,
  })
  #isStopped = false

  /** @param latest the owners of all work of this worker */
  constructor(latest: LatestOwners) {
    this.#latest = latest
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
    const burst = this.#continueBurst(owner, askedAt)
    let result: Promise<Result> | undefined
    const begin = () =>
      new Promise<void>((resolve) => {
        const leave = () => resolve()
        result = work(leave, performance.now() - askedAt)
        result.then(leave, leave)
      })
    try {
      await this.#slots.run(owner, async () => {
        if (this.#isStopped) throw new Postponed(0)
        await begin()
      })
    } catch (error) {
      throw error instanceof TooMuchAtOnce ? new Postponed(postponeMs) : error
    } finally {
      burst.done++
      burst.at = performance.now()
    }
    return result as Promise<Result>
  }

  /** From now on what waits is postponed: another worker runs it. */
  stop(): void {
    this.#isStopped = true
  }

  #continueBurst(owner: string, now: number): Burst {
    const latest = this.#bursts.get(owner)
    if (latest !== undefined && now - latest.at < burstEndMs) {
      latest.at = now
      return latest
    }
    const burst = { done: 0, at: now }
    this.#bursts.set(owner, burst)
    return burst
  }

  #findLimit(owner: string): number {
    if (!this.#latest.areBeside(owner)) return Number.POSITIVE_INFINITY
    const { done } = this.#bursts.get(owner) ?? { done: 0 }
    return Math.min(atFirst + Math.floor(done / perFurther), atMost)
  }
}
