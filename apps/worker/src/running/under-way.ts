import { FairSlots } from '@automation/database'
import { type Caller, ownerOf } from '../calls/lanes.js'
import { LatestOwners } from './latest-owners.js'

/** So many events and steps of one owner are under way at a time where others have some, too. */
const amongOthers = 25
/** How long (ms) one may wait for those before it. */
const lineTimeoutMs = 600_000

/**
 * Keeps the burst of one owner from holding the event loop: the response to a statement for a hundred events would run a hundred continuations in one
 * turn. An owner that has the worker to itself is not limited.
 */
export class UnderWay {
  readonly #latest = new LatestOwners()
  readonly #slots = new FairSlots({
    total: Number.POSITIVE_INFINITY,
    perOwner: (owner) => (this.#latest.areBeside(owner) ? amongOthers : Number.POSITIVE_INFINITY),
    waitingPerOwner: Number.POSITIVE_INFINITY,
    timeoutMs: lineTimeoutMs,
  })

  /**
   * Runs an event until its outcome is recorded, or records a step, when fewer are under way. Work must not contain other work of its owner.
   *
   * @throws TooMuchAtOnce where it has waited too long
   */
  run<Result>(caller: Caller, work: () => Promise<Result>): Promise<Result> {
    const owner = ownerOf(caller)
    this.#latest.note(owner)
    return this.#slots.run(owner, work)
  }
}
