import type { EventVerdicts, TestedEvent } from './tested-event.js'

export interface Matched {
  event: TestedEvent
  verdicts: EventVerdicts
}

export interface SavedOrder {
  held: Matched[]
  last: [at: number, id: string]
  late: number
}

/** Events are read in the order of their ids, which processes make a moment before Postgres accepts them. */
export const maxHeld = 100
const maxHeldLength = 262_144

/** Puts events into the order of their acceptance, as far as so many of them tell: a bounded part of the state of a backtest. */
export class InOrder {
  readonly #held: Matched[]
  #last: SavedOrder['last']
  #late: number

  constructor({ held = [], last = [0, ''], late = 0 }: Partial<SavedOrder> = {}) {
    this.#held = [...held]
    this.#last = last
    this.#late = late
  }

  /** How many came too late for their place. */
  get late(): number {
    return this.#late
  }

  /** @returns those whose turn it is */
  add(matched: Matched): Matched[] {
    const place = this.#held.findLastIndex(({ event }) => isBefore(event, matched.event))
    this.#held.splice(place + 1, 0, matched)
    const due: Matched[] = []
    while (this.#held.length > maxHeld || this.#length() > maxHeldLength) due.push(this.#take())
    return due
  }

  drain(): Matched[] {
    return Array.from({ length: this.#held.length }, () => this.#take())
  }

  save(): SavedOrder {
    return { held: this.#held, last: this.#last, late: this.#late }
  }

  #take(): Matched {
    const next = this.#held.shift() as Matched
    const { acceptedAt, id } = next.event
    const [at, before] = this.#last
    if (acceptedAt < at || (acceptedAt === at && id < before)) this.#late++
    else this.#last = [acceptedAt, id]
    return next
  }

  #length(): number {
    return this.#held.reduce((sum, { event }) => sum + (event.size ?? 0), 0)
  }
}

function isBefore(one: TestedEvent, other: TestedEvent): boolean {
  return one.acceptedAt === other.acceptedAt ? one.id < other.id : one.acceptedAt < other.acceptedAt
}
