import { mailServer } from '../effects/effect.js'
import { mailConnections } from '../effects/mail-transports.js'
import { createBreaker } from './breaker.js'
import { type Caller, type Lane, Lanes } from './lanes.js'

/** The gate's decision about a call. */
export type Entry =
  | {
      kind: 'entered'
      /**
       * Leaves the gate; to be called when the call has ended, however it did.
       *
       * @param wasAnswered false where no HTTP or SMTP response came, or one that reports a fault of its server (5xx); omitted
       * where no call was made
       */
      leave(wasAnswered?: boolean): void
    }
  /** The destination does not work at present; it may be called after this time. */
  | { kind: 'broken'; retryAfterMs: number }
  /** Too many calls wait already. */
  | { kind: 'full' }

type Admit = (entry: Entry) => void

/** How many calls may wait for each slot. */
const waitersPerSlot = 10

/**
 * A bulkhead and a breaker in front of calls: no slow destination, no busy workspace and no creator of many workspaces takes all the
 * slots. A workspace has a quarter of them at most, one of its destinations a tenth, and all workspaces of one creator together a
 * half. Our mail server has a tenth over all workspaces, so that a mute one leaves the slots to webhooks; one creator has half of
 * that. A call without a slot waits, and a free slot goes round the owners: creators, and workspaces without one. Ten times as many
 * calls may wait as there are slots; of these, too, a workspace has a quarter and a creator a half.
 *
 * No call waits while it could have a slot: between two calls of the gate, each waiting call has a full lane, workspace, owner or
 * gate before it. So a newcomer that finds a slot has overtaken nobody.
 */
export class Gate {
  readonly #slots: number
  readonly #slotsOfWorkspace: number
  readonly #slotsOfOwner: number
  readonly #lanes: Lanes<Admit>
  readonly #breaker: ReturnType<typeof createBreaker>
  #inFlight = 0
  #waiting = 0

  /**
   * @param slots calls in flight at a time
   * @param now ms, by a monotonic clock
   * @param onBroken is called for each destination that stops working
   */
  constructor(slots: number, now = () => performance.now(), onBroken = () => {}) {
    this.#slots = slots
    this.#slotsOfWorkspace = Math.max(1, Math.floor(slots / 4))
    this.#slotsOfOwner = Math.max(1, Math.floor(slots / 2))
    const lane = Math.max(1, Math.floor(slots / 10))
    const shared = Math.min(lane, mailConnections)
    this.#lanes = new Lanes(
      { owner: this.#slotsOfOwner, workspace: this.#slotsOfWorkspace, lane, shared },
      isShared,
    )
    this.#breaker = createBreaker(now, onBroken)
  }

  /** How many calls wait for a slot. */
  get waiting(): number {
    return this.#waiting
  }

  /** How many slots are taken. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** @returns undefined where no slot is free */
  tryEnter(caller: Caller, destination: string): Entry | undefined {
    const lane = this.#lanes.open(caller, destination)
    const entry = this.#tryLane(lane)
    this.#lanes.settle(lane)
    return entry
  }

  /**
   * Waits for a slot.
   *
   * @throws the signal's reason, by its promise; the call does not wait any longer then
   */
  async enter(caller: Caller, destination: string, signal?: AbortSignal): Promise<Entry> {
    signal?.throwIfAborted()
    const lane = this.#lanes.open(caller, destination)
    const isFull =
      this.#waiting >= this.#slots * waitersPerSlot ||
      lane.workspace.waiting >= this.#slotsOfWorkspace * waitersPerSlot ||
      lane.workspace.owner.waiting >= this.#slotsOfOwner * waitersPerSlot
    const entry = this.#tryLane(lane) ?? (isFull ? ({ kind: 'full' } as const) : this.#wait(lane, signal))
    this.#lanes.settle(lane)
    return entry
  }

  #tryLane(lane: Lane<Admit>): Entry | undefined {
    const retryAfterMs = this.#breaker.findRest(keyOf(lane))
    if (retryAfterMs !== undefined) return { kind: 'broken', retryAfterMs }
    return this.#inFlight < this.#slots && this.#lanes.hasSlot(lane) ? this.#occupy(lane) : undefined
  }

  #occupy(lane: Lane<Admit>): Entry {
    const isProbe = this.#breaker.begin(keyOf(lane))
    this.#countInFlight(lane, 1)
    let isIn = true
    return {
      kind: 'entered',
      leave: (wasAnswered) => {
        if (!isIn) return
        isIn = false
        this.#leave(lane, isProbe, wasAnswered)
      },
    }
  }

  #leave(lane: Lane<Admit>, isProbe: boolean, wasAnswered: boolean | undefined): void {
    this.#countInFlight(lane, -1)
    this.#breaker.end(keyOf(lane), isProbe, wasAnswered)
    this.#rejectIfBroken(lane)
    this.#lanes.settle(lane)
    this.#admitWaiting()
  }

  #wait(lane: Lane<Admit>, signal: AbortSignal | undefined): Promise<Entry> {
    return new Promise((resolve, reject) => {
      const admit: Admit = (entry) => {
        signal?.removeEventListener('abort', cancel)
        resolve(entry)
      }
      const cancel = () => {
        this.#removeWaiter(lane, admit)
        this.#lanes.settle(lane)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', cancel)
      this.#lanes.addWaiter(lane, admit)
      this.#waiting += 1
    })
  }

  /** Gives free slots to waiting calls. */
  #admitWaiting(): void {
    while (this.#inFlight < this.#slots) {
      const lane = this.#lanes.takeNext()
      if (lane === undefined) return
      this.#rejectIfBroken(lane)
      const [first] = lane.waiters
      if (first) {
        this.#removeWaiter(lane, first)
        first(this.#occupy(lane))
      }
      this.#lanes.settle(lane)
    }
  }

  #rejectIfBroken(lane: Lane<Admit>): void {
    const retryAfterMs = this.#breaker.findRest(keyOf(lane))
    if (retryAfterMs === undefined) return
    for (const waiter of lane.waiters) {
      this.#removeWaiter(lane, waiter)
      waiter({ kind: 'broken', retryAfterMs })
    }
  }

  #removeWaiter(lane: Lane<Admit>, waiter: Admit): void {
    this.#lanes.removeWaiter(lane, waiter)
    this.#waiting -= 1
  }

  #countInFlight(lane: Lane<Admit>, change: 1 | -1): void {
    this.#inFlight += change
    this.#lanes.countInFlight(lane, change)
  }
}

/** Our own mail server either works for all workspaces or for none. */
function keyOf({ workspace, destination }: Lane<Admit>): string {
  return isShared(destination) ? destination : `${workspace.id} ${destination}`
}

function isShared(destination: string): boolean {
  return destination === mailServer
}
