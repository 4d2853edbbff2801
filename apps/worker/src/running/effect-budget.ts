import type { LoadedEvent } from '@automation/ledger'
import type { Causation } from './causation.js'

/** Of all tasks that the rules of one event create, and of all events that they emit: one statement commits either. */
const maxBytes = 16_777_216

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

  /** Of all tasks and emitted events so far. */
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
  refund(): void {
    this.#causation.refund(this.#event, this.#emissions)
    this.#emissions = 0
  }

  /** @returns why an event of this size cannot be emitted, undefined where it can */
  countEvent(bytes: number): { error: string; attention?: 'event_budget' } | undefined {
    if (this.#emittedBytes + bytes > maxBytes)
      return { error: 'The rules of one event would emit more than 16 MiB' }
    const error = this.#causation.countEmission(this.#event)
    if (error !== undefined) return { error, attention: 'event_budget' }
    this.#emittedBytes += bytes
    this.#emissions++
    return undefined
  }
}
