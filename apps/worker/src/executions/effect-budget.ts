import type { LoadedEvent } from '@automation/ledger'
import type { Causation } from './causation.js'

/** Of all tasks that the rules of one event create, and of all events that they emit: one statement commits either. */
const maxBytes = 16_777_216

/** Of one event's data, as JSON: as much as a request may have (BODY_LIMIT). Otherwise each event could hold the last one twice. */
const maxEventBytes = 1_048_576

/** Why an event is not emitted. */
export interface EffectRefusal {
  error: string
  attention?: 'event_loop' | 'event_budget'
}

const tooMuch: EffectRefusal = { error: 'The rules of one event would emit more than 16 MiB' }

/** What the rules of one event may still have recorded. */
export class EffectBudget {
  readonly #event: LoadedEvent
  readonly #causation: Causation
  #taskBytes = 0
  #emittedBytes = 0
  #emissions = 0

  constructor(event: LoadedEvent, causation: Causation) {
    this.#event = event
    this.#causation = causation
  }

  /** Of all tasks and events that were written so far. */
  get bytes(): number {
    return this.#taskBytes + this.#emittedBytes
  }

  /** @returns why a task of this size cannot be created, undefined where it can */
  countTask(bytes: number): string | undefined {
    if (this.#taskBytes + bytes > maxBytes)
      return 'The rules of one event would create tasks of more than 16 MiB'
    this.#taskBytes += bytes
    return undefined
  }

  /** Takes back what was counted, where nothing of it was stored. */
  refund(emissions = this.#emissions): void {
    this.#causation.refund(this.#event, emissions)
    this.#emissions -= emissions
  }

  /**
   * @param leastBytes what the events of one action have at least, together
   * @returns why none of them can be emitted, undefined where they may have room
   */
  findRefusal(leastBytes: number, count: number): EffectRefusal | undefined {
    if (this.#emittedBytes + leastBytes > maxBytes) return tooMuch
    const error = this.#causation.findRefusal(this.#event, count)
    return error === undefined ? undefined : { error, attention: 'event_budget' }
  }

  /**
   * Counts the events of one action; their bytes also where they are refused, since they were written.
   *
   * @param sizes the bytes of each @returns why none of them can be emitted, undefined where they can
   */
  countEvents(sizes: readonly number[]): EffectRefusal | undefined {
    for (const bytes of sizes) this.#emittedBytes += bytes
    const tooLarge = sizes.findIndex((bytes) => bytes > maxEventBytes)
    if (tooLarge >= 0)
      return {
        error: `${sizes.length === 1 ? 'The event' : `Event ${tooLarge + 1} of ${sizes.length}`} would be larger than 1 MiB`,
      }
    if (this.#emittedBytes > maxBytes) return tooMuch
    const error = this.#causation.countEmissions(this.#event, sizes.length)
    if (error !== undefined) return { error, attention: 'event_budget' }
    this.#emissions += sizes.length
    return undefined
  }
}
