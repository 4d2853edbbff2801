import { mailServer } from '../effects/effect.js'
import { mailConnections } from '../effects/mail-transports.js'
import { createBreaker } from './breaker.js'
import { createLanes, type Lane } from './lanes.js'

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
 * A bulkhead and a breaker in front of calls: no slow destination and no busy workspace takes all the slots. A workspace has a quarter
 * of them at most, and one of its destinations a tenth. Our mail server has a tenth over all workspaces, so that a mute one leaves
 * the slots to webhooks. A call without a slot waits, and a free slot goes round the workspaces. Ten
 * times as many calls may wait as there are slots; of these, too, a workspace has a quarter.
 *
 * No call waits while it could have a slot: between two calls of the gate, each waiting call has a full lane, a full workspace or a
 * full gate before it. So a newcomer that finds a slot has overtaken nobody.
 */
export class Gate {
  readonly #slots: number
  readonly #slotsOfWorkspace: number
  readonly #lanes: ReturnType<typeof createLanes<Admit>>
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
    const lane = Math.max(1, Math.floor(slots / 10))
    this.#lanes = createLanes(
      { workspace: this.#slotsOfWorkspace, lane, shared: Math.min(lane, mailConnections) },
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
  tryEnter(workspaceId: string, destination: string): Entry | undefined {
    const lane = this.#lanes.open(workspaceId, destination)
    const entry = this.#tryLane(lane)
    this.#lanes.settle(lane)
    return entry
  }

  /**
   * Waits for a slot.
   *
   * @throws the signal's reason, by its promise; the call does not wait any longer then
   */
  async enter(workspaceId: string, destination: string, signal?: AbortSignal): Promise<Entry> {
    signal?.throwIfAborted()
    const lane = this.#lanes.open(workspaceId, destination)
    const isFull =
      this.#waiting >= this.#slots * waitersPerSlot ||
      lane.workspace.waiting >= this.#slotsOfWorkspace * waitersPerSlot
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
      lane.waiters.add(admit)
      lane.workspace.waiting += 1
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
    lane.waiters.delete(waiter)
    lane.workspace.waiting -= 1
    this.#waiting -= 1
  }

  #countInFlight(lane: Lane<Admit>, change: 1 | -1): void {
    this.#inFlight += change
    this.#lanes.count(lane, change)
  }
}

/** Our own mail server either works for all workspaces or for none. */
function keyOf({ workspace, destination }: Lane<Admit>): string {
  return isShared(destination) ? destination : `${workspace.id} ${destination}`
}

function isShared(destination: string): boolean {
  return destination === mailServer
}
