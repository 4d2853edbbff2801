const minuteMs = 60_000
/** Events are added in about the order of their time, so only the latest minutes may still get more. */
const maxOpen = 256

export interface SavedMinutes {
  open: [minute: number, count: number][]
  /** Earlier minutes are closed. */
  openFrom: number
  best: [minute: number, count: number]
  isAtLeast: boolean
}

/** Finds the minute with the most of something, in bounded memory. */
export class BusiestMinute {
  readonly #open: Map<number, number>
  #openFrom: number
  #best: [minute: number, count: number]
  /** True where something was added to a closed minute. */
  #isAtLeast: boolean

  constructor({ open, openFrom, best, isAtLeast }: SavedMinutes = nothing) {
    this.#open = new Map(open)
    this.#openFrom = openFrom
    this.#best = best
    this.#isAtLeast = isAtLeast
  }

  /** @param at epoch ms @param times 1 or more */
  add(at: number, times = 1): void {
    const minute = Math.floor(at / minuteMs)
    if (minute < this.#openFrom) {
      this.#isAtLeast = true
      return
    }
    const count = (this.#open.get(minute) ?? 0) + times
    this.#open.set(minute, count)
    const [bestMinute, bestCount] = this.#best
    // The earliest of several.
    if (count > bestCount || (count === bestCount && minute < bestMinute)) this.#best = [minute, count]
    if (this.#open.size > maxOpen) this.#close()
  }

  find(): { at: string; count: number; isAtLeast: boolean } | null {
    const [minute, count] = this.#best
    if (count === 0) return null
    return { at: new Date(minute * minuteMs).toISOString(), count, isAtLeast: this.#isAtLeast }
  }

  save(): SavedMinutes {
    return {
      open: [...this.#open],
      openFrom: this.#openFrom,
      best: this.#best,
      isAtLeast: this.#isAtLeast,
    }
  }

  /** Closes the earlier half. */
  #close(): void {
    const minutes = [...this.#open.keys()].sort((left, right) => left - right)
    this.#openFrom = minutes[maxOpen / 2] as number
    for (const minute of minutes.slice(0, maxOpen / 2)) this.#open.delete(minute)
  }
}

const nothing: SavedMinutes = {
  open: [],
  openFrom: -8_640_000_000_000,
  best: [0, 0],
  isAtLeast: false,
}
