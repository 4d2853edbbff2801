export const maxBuckets = 200

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Each is a multiple of the one before, so that buckets can be merged. The last one is doubled for longer ranges. */
const widths = [
  minuteMs,
  5 * minuteMs,
  15 * minuteMs,
  hourMs,
  3 * hourMs,
  6 * hourMs,
  12 * hourMs,
  24 * hourMs,
]

export interface SavedBuckets {
  widthMs: number
  counts: [index: number, active: number, draft: number][]
}

/** Counts matches by time in at most 200 buckets. A range that grew since the state was saved has wider ones. */
export class OverTime {
  readonly widthMs: number
  readonly #first: number
  readonly #last: number
  readonly #counts = new Map<number, [active: number, draft: number]>()

  /**
   * @param from epoch ms
   * @param to epoch ms, not included
   */
  constructor(from: number, to: number, saved?: SavedBuckets) {
    this.widthMs = Math.max(widthFor(from, to), saved?.widthMs ?? 0)
    this.#first = Math.floor(from / this.widthMs)
    this.#last = Math.floor((Math.max(to, from + 1) - 1) / this.widthMs)
    for (const [index, active, draft] of saved?.counts ?? [])
      this.#count(index * (saved?.widthMs as number), active, draft)
  }

  add(at: number, active: boolean, draft: boolean): void {
    if (active || draft) this.#count(at, active ? 1 : 0, draft ? 1 : 0)
  }

  /** All buckets of the range, the empty ones too. */
  list(): { at: string; active: number; draft: number }[] {
    const buckets: { at: string; active: number; draft: number }[] = []
    for (let index = this.#first; index <= this.#last; index++) {
      const [active, draft] = this.#counts.get(index) ?? [0, 0]
      buckets.push({ at: new Date(index * this.widthMs).toISOString(), active, draft })
    }
    return buckets
  }

  save(): SavedBuckets {
    return {
      widthMs: this.widthMs,
      counts: [...this.#counts].map(([index, [active, draft]]) => [index, active, draft]),
    }
  }

  #count(at: number, active: number, draft: number): void {
    const index = Math.floor(at / this.widthMs)
    const counts = this.#counts.get(index)
    if (counts === undefined) this.#counts.set(index, [active, draft])
    else {
      counts[0] += active
      counts[1] += draft
    }
  }
}

function widthFor(from: number, to: number): number {
  let width = minuteMs
  for (let index = 1; countBuckets(from, to, width) > maxBuckets; index++) width = widths[index] ?? 2 * width
  return width
}

function countBuckets(from: number, to: number, width: number): number {
  return Math.floor((Math.max(to, from + 1) - 1) / width) - Math.floor(from / width) + 1
}
