import { type FairQueue, NotAdmitted, ownerOf, type Entry as Place } from '@automation/admission'
import type { Admission } from '../admission.js'
import { mailServer } from '../effects/effect.js'
import { createBreaker } from './breaker.js'
import { type CallOwner, HeldBytes, type Release } from './held-bytes.js'

/** The gate's decision about a call. */
export type GateEntry =
  | {
      kind: 'entered'
      /**
       * Leaves the gate; to be called when the call has ended, however it did.
       *
       * @param wasAnswered false if no HTTP or SMTP response came, or one that reports a fault of its server (5xx); omitted
       * if no call was made
       */
      leave(wasAnswered?: boolean): void
    }
  /** The destination does not work at present; it may be called after this time. */
  | { kind: 'broken'; retryAfterMs: number }
  /** Too many calls wait already, or what they hold is too large; it may be tried again after this time. */
  | { kind: 'full'; retryAfterMs: number }

type Slots = Pick<Admission, 'calls' | 'mails' | 'slots'>

/** How many calls of all owners may wait for each slot. */
const waitingPerSlot = 10
/** When an execution that found the gate full comes back: between these (ms). It loads the data of its event again. */
const leastMs = 5_000
const mostMs = 15_000

/**
 * What is in front of calls: a slot of its owner's share (admission.ts), a breaker for each destination (breaker.ts), and a limit of what calls hold in memory, in
 * flight, waiting or to be recorded (held-bytes.ts).
 */
export class Gate {
  readonly #admission: Slots
  readonly #breaker: ReturnType<typeof createBreaker>
  readonly #heldBytes: HeldBytes

  /**
   * @param now ms, by a monotonic clock
   * @param onBroken is called for each destination that stops working
   * @param maxBytes what all calls together may hold in memory
   */
  constructor(admission: Slots, now = () => performance.now(), onBroken = () => {}, maxBytes?: number) {
    this.#admission = admission
    this.#breaker = createBreaker(now, onBroken)
    this.#heldBytes = new HeldBytes(maxBytes)
  }

  /** How many calls wait for a slot. */
  get waiting(): number {
    return this.#admission.calls.waiting + this.#admission.mails.waiting
  }

  /** How many slots are taken. */
  get inFlight(): number {
    return this.#admission.calls.taken + this.#admission.mails.taken
  }

  /**
   * @param ownBytes what the call holds in memory beside the data of its event
   * @returns undefined if no slot is free, and the call may wait for one
   */
  tryEnter(caller: CallOwner, destination: string, ownBytes = 0): GateEntry | undefined {
    const obstacle = this.#findObstacle(caller, destination, ownBytes)
    if (obstacle !== undefined) return obstacle
    const place = this.#queueOf(destination).tryEnter(ownerOf(caller), { key: keyOf(caller, destination) })
    if (place !== undefined)
      return this.#begin(caller, destination, place, this.#heldBytes.hold(caller, ownBytes))
    return this.waiting < this.#admission.slots * waitingPerSlot ? undefined : full()
  }

  /**
   * Waits for a slot.
   *
   * @throws the signal's reason, by its promise; the call does not wait any longer then
   */
  async enter(
    caller: CallOwner,
    destination: string,
    ownBytes = 0,
    signal?: AbortSignal,
  ): Promise<GateEntry> {
    signal?.throwIfAborted()
    const known = this.tryEnter(caller, destination, ownBytes)
    if (known !== undefined) return known
    const release = this.#heldBytes.hold(caller, ownBytes)
    try {
      const asked = { key: keyOf(caller, destination), ...(signal && { signal }) }
      const place = await this.#queueOf(destination).enter(ownerOf(caller), asked)
      const retryAfterMs = this.#breaker.findRest(keyOf(caller, destination))
      if (retryAfterMs === undefined) return this.#begin(caller, destination, place, release)
      place.leave()
      release()
      return { kind: 'broken', retryAfterMs }
    } catch (error) {
      release()
      if (error instanceof NotAdmitted) return full()
      throw error
    }
  }

  /** Counts what an execution holds while it is recorded, whether or not there is room: the data of its event, and what it has produced. */
  hold(caller: CallOwner, producedBytes: number): Release {
    return this.#heldBytes.hold(caller, producedBytes)
  }

  #findObstacle(caller: CallOwner, destination: string, ownBytes: number): GateEntry | undefined {
    const retryAfterMs = this.#breaker.findRest(keyOf(caller, destination))
    if (retryAfterMs !== undefined) return { kind: 'broken', retryAfterMs }
    return this.#heldBytes.hasRoom(caller, ownBytes) ? undefined : full()
  }

  #begin(caller: CallOwner, destination: string, place: Place, release: Release): GateEntry {
    const key = keyOf(caller, destination)
    const isProbe = this.#breaker.begin(key)
    let isIn = true
    return {
      kind: 'entered',
      leave: (wasAnswered) => {
        if (!isIn) return
        isIn = false
        release()
        this.#breaker.end(key, isProbe, wasAnswered)
        place.leave()
      },
    }
  }

  #queueOf(destination: string): FairQueue {
    return destination === mailServer ? this.#admission.mails : this.#admission.calls
  }
}

function full(): GateEntry {
  return { kind: 'full', retryAfterMs: leastMs + Math.random() * (mostMs - leastMs) }
}

/** Our own mail server either works for all workspaces or for none. */
function keyOf({ workspaceId }: CallOwner, destination: string): string {
  return destination === mailServer ? destination : `${workspaceId} ${destination}`
}
