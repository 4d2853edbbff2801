import { ownerOf } from '@automation/admission'
import { mailServer } from '../effects/effect.js'
import { mailConnections } from '../effects/mail-transports.js'
import { createBreaker } from './breaker.js'
import { HeldBytes, type Release } from './held-bytes.js'
import { type Caller, type Lane, Lanes } from './lanes.js'
import { Returns } from './returns.js'

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
  /** Too many calls wait already, or what they hold is too large; it may be tried again after this time. */
  | { kind: 'full'; retryAfterMs: number }

/** A call that waits for a slot. */
interface Waiter {
  /** Gives back what it holds. */
  release: Release
  admit(entry: Entry): void
}

/** How many calls may wait for each slot. */
const waitersPerSlot = 10

/**
 * A bulkhead and a breaker in front of calls: no slow destination, no busy workspace and no creator of many workspaces takes all the
 * slots. A workspace has a quarter of them at most, one of its destinations a tenth, and all workspaces of one creator together a
 * half. Our mail server has a tenth over all workspaces, so that a mute one leaves the slots to webhooks; one creator has half of
 * that. A call without a slot waits, and a free slot goes round the owners: creators, and workspaces without one. Ten times as many
 * calls may wait as there are slots; of these, too, a workspace has a quarter and a creator a half.
 *
 * What calls hold in memory is limited as well: in flight, waiting, or to be recorded (held-bytes.ts). A call beyond a limit learns
 * when it may come back (returns.ts).
 *
 * No call waits while it could have a slot: between two calls of the gate, each waiting call has a full lane, workspace, owner or
 * gate before it. So a newcomer that finds a slot has overtaken nobody.
 */
export class Gate {
  readonly #slots: number
  readonly #slotsOfWorkspace: number
  readonly #slotsOfOwner: number
  readonly #lanes: Lanes<Waiter>
  readonly #breaker: ReturnType<typeof createBreaker>
  readonly #heldBytes: HeldBytes
  readonly #returns: Returns
  #inFlight = 0
  #waiting = 0

  /**
   * @param slots calls in flight at a time
   * @param now ms, by a monotonic clock
   * @param onBroken is called for each destination that stops working
   * @param maxBytes what all calls together may hold in memory
   */
  constructor(slots: number, now = () => performance.now(), onBroken = () => {}, maxBytes?: number) {
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
    this.#heldBytes = new HeldBytes(maxBytes)
    this.#returns = new Returns(now)
  }

  /** How many calls wait for a slot. */
  get waiting(): number {
    return this.#waiting
  }

  /** How many slots are taken. */
  get inFlight(): number {
    return this.#inFlight
  }

  /**
   * @param ownBytes what the call holds in memory beside the data of its event
   * @returns undefined where no slot is free, and the call may wait for one
   */
  tryEnter(caller: Caller, destination: string, ownBytes = 0): Entry | undefined {
    const lane = this.#lanes.open(caller, destination)
    const entry = this.#tryLane(lane, caller, ownBytes)
    this.#lanes.settle(lane)
    return entry
  }

  /**
   * Waits for a slot.
   *
   * @throws the signal's reason, by its promise; the call does not wait any longer then
   */
  async enter(caller: Caller, destination: string, ownBytes = 0, signal?: AbortSignal): Promise<Entry> {
    signal?.throwIfAborted()
    const lane = this.#lanes.open(caller, destination)
    const entry =
      this.#tryLane(lane, caller, ownBytes) ??
      this.#wait(lane, this.#heldBytes.hold(caller, ownBytes), signal)
    this.#lanes.settle(lane)
    return entry
  }

  /** Counts what an execution holds while it is recorded, whether or not there is room: the data of its event, and what it has produced. */
  hold(caller: Caller, producedBytes: number): Release {
    return this.#heldBytes.hold(caller, producedBytes)
  }

  #tryLane(lane: Lane<Waiter>, caller: Caller, ownBytes: number): Entry | undefined {
    const retryAfterMs = this.#breaker.findRest(keyOf(lane))
    if (retryAfterMs !== undefined) return { kind: 'broken', retryAfterMs }
    const hasSlot = this.#inFlight < this.#slots && this.#lanes.hasSlot(lane)
    if ((!hasSlot && this.#isFull(lane)) || !this.#heldBytes.hasRoom(caller, ownBytes)) {
      const bytes = caller.heapBytes + ownBytes
      return { kind: 'full', retryAfterMs: this.#returns.findNext(ownerOf(caller), bytes) }
    }
    return hasSlot ? this.#occupy(lane, this.#heldBytes.hold(caller, ownBytes)) : undefined
  }

  #isFull({ workspace }: Lane<Waiter>): boolean {
    return (
      this.#waiting >= this.#slots * waitersPerSlot ||
      workspace.waiting >= this.#slotsOfWorkspace * waitersPerSlot ||
      workspace.owner.waiting >= this.#slotsOfOwner * waitersPerSlot
    )
  }

  #occupy(lane: Lane<Waiter>, release: Release): Entry {
    const isProbe = this.#breaker.begin(keyOf(lane))
    this.#countInFlight(lane, 1)
    let isIn = true
    return {
      kind: 'entered',
      leave: (wasAnswered) => {
        if (!isIn) return
        isIn = false
        release()
        this.#leave(lane, isProbe, wasAnswered)
      },
    }
  }

  #leave(lane: Lane<Waiter>, isProbe: boolean, wasAnswered: boolean | undefined): void {
    this.#countInFlight(lane, -1)
    this.#breaker.end(keyOf(lane), isProbe, wasAnswered)
    this.#rejectIfBroken(lane)
    this.#lanes.settle(lane)
    this.#admitWaiting()
  }

  #wait(lane: Lane<Waiter>, release: Release, signal: AbortSignal | undefined): Promise<Entry> {
    return new Promise((resolve, reject) => {
      const admit = (entry: Entry) => {
        signal?.removeEventListener('abort', cancel)
        resolve(entry)
      }
      const waiter = { release, admit }
      const cancel = () => {
        this.#removeWaiter(lane, waiter)
        release()
        this.#lanes.settle(lane)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', cancel)
      this.#lanes.addWaiter(lane, waiter)
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
        first.admit(this.#occupy(lane, first.release))
      }
      this.#lanes.settle(lane)
    }
  }

  #rejectIfBroken(lane: Lane<Waiter>): void {
    const retryAfterMs = this.#breaker.findRest(keyOf(lane))
    if (retryAfterMs === undefined) return
    for (const waiter of lane.waiters) {
      this.#removeWaiter(lane, waiter)
      waiter.release()
      waiter.admit({ kind: 'broken', retryAfterMs })
    }
  }

  #removeWaiter(lane: Lane<Waiter>, waiter: Waiter): void {
    this.#lanes.removeWaiter(lane, waiter)
    this.#waiting -= 1
  }

  #countInFlight(lane: Lane<Waiter>, change: 1 | -1): void {
    this.#inFlight += change
    this.#lanes.countInFlight(lane, change)
  }
}

/** Our own mail server either works for all workspaces or for none. */
function keyOf({ workspace, destination }: Lane<Waiter>): string {
  return isShared(destination) ? destination : `${workspace.id} ${destination}`
}

function isShared(destination: string): boolean {
  return destination === mailServer
}
