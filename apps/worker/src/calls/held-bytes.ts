import { getHeapStatistics } from 'node:v8'
import { ownerOf } from '@automation/admission'

/** To whom a call belongs. */
export interface CallOwner {
  workspaceId: string
  /** null: the workspace has none. */
  createdBy: string | null
  /** What the data of its event takes in memory. All calls of the event share it, and are of one caller. */
  heapBytes: number
}

/** Gives back what a call holds. */
export type Release = () => void

/** A call that holds less is not counted: a thousand of them fit beside the others. */
const lightBytes = 16_384
/** Of the heap. */
const share = 1 / 4

/** An owner that holds nothing may hold its first call, up to so many times the limit: however many hold much, nobody is put off for ever. */
const reserve = 1.25

const nothing: Release = () => {}

/**
 * Limits what calls hold in memory. A megabyte of event data takes up to twenty when it is parsed, and a slow destination would collect
 * calls until the worker ends, and again after each restart. An owner may hold half of what is left: so one alone gets a third of all,
 * and many leave room for the next one. Calls of one event share its data.
 */
export class HeldBytes {
  readonly #maxBytes: number
  readonly #byOwner = new Map<string, number>()
  /** How many calls share the data of an event. */
  readonly #sharing = new Map<CallOwner, number>()
  #bytes = 0

  constructor(maxBytes = getHeapStatistics().heap_size_limit * share) {
    this.#maxBytes = maxBytes
  }

  /**
   * @param ownBytes what the call holds beside the data of its event
   * @returns whether the call may hold so much; where nothing is held, it may hold anything
   */
  hasRoom(caller: CallOwner, ownBytes: number): boolean {
    const bytes = ownBytes + (this.#sharing.has(caller) ? 0 : caller.heapBytes)
    if (bytes < lightBytes || this.#bytes === 0) return true
    const held = this.#byOwner.get(ownerOf(caller)) ?? 0
    if (held === 0 && this.#bytes + bytes <= this.#maxBytes * reserve) return true
    return held + bytes <= (this.#maxBytes - this.#bytes) / 2
  }

  hold(caller: CallOwner, ownBytes: number): Release {
    if (caller.heapBytes + ownBytes < lightBytes) return nothing
    const owner = ownerOf(caller)
    const shared = this.#sharing.get(caller) ?? 0
    this.#sharing.set(caller, shared + 1)
    this.#change(owner, ownBytes + (shared === 0 ? caller.heapBytes : 0))
    return () => this.#release(caller, owner, ownBytes)
  }

  #release(caller: CallOwner, owner: string, ownBytes: number): void {
    const shared = (this.#sharing.get(caller) ?? 1) - 1
    if (shared > 0) this.#sharing.set(caller, shared)
    else this.#sharing.delete(caller)
    this.#change(owner, -ownBytes - (shared > 0 ? 0 : caller.heapBytes))
  }

  #change(owner: string, bytes: number): void {
    this.#bytes += bytes
    const held = (this.#byOwner.get(owner) ?? 0) + bytes
    if (held > 0) this.#byOwner.set(owner, held)
    else this.#byOwner.delete(owner)
  }
}
