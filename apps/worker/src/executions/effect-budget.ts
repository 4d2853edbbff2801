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

  /** @param leastBytes what the event has at least @returns why it cannot be emitted, undefined where it may have room */
  findRefusal(leastBytes: number): EffectRefusal | undefined {
    if (this.#emittedBytes + leastBytes > maxBytes) return tooMuch
    const error = this.#causation.findRefusal(this.#event)
    return error === undefined ? undefined : { error, attention: 'event_budget' }
  }

  /** Counts an event; its bytes also where it is refused, since they were written. @returns why it cannot be emitted, undefined where it can */
  countEvent(bytes: number): EffectRefusal | undefined {
    this.#emittedBytes += bytes
    if (bytes > maxEventBytes) return { error: 'The event would be larger than 1 MiB' }
    if (this.#emittedBytes > maxBytes) return tooMuch
    const error = this.#causation.countEmission(this.#event)
    if (error !== undefined) return { error, attention: 'event_budget' }
    this.#emissions++
    return undefined
  }
}
