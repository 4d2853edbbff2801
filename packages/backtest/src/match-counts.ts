import { type EventVerdicts, type Side, sides } from './tested-event.js'

/** For how many events. */
interface SideCounts {
  matched: number
  outranked: number
  suppressed: number
  /** Of those that matched: by a later one of their key. */
  replaced: number
  not_judged: number
}

export interface SavedCounts extends Record<Side, SideCounts> {
  scanned: number
  considered: number
  same: number
  /** Absent: none. */
  erased?: number
}

/** Counts events by what became of them. */
export class MatchCounts {
  readonly #counts: SavedCounts

  constructor(saved: SavedCounts = none) {
    this.#counts = structuredClone(saved)
  }

  get scanned(): number {
    return this.#counts.scanned
  }

  get considered(): number {
    return this.#counts.considered
  }

  get erased(): number {
    return this.#counts.erased ?? 0
  }

  passErased(): void {
    this.#counts.erased = this.erased + 1
  }

  pass(events: number): void {
    this.#counts.scanned += events
  }

  add(verdicts: EventVerdicts): void {
    this.#counts.considered++
    for (const side of sides) {
      const verdict = verdicts[side]
      if (verdict !== null && verdict !== 'not_matched') this.#counts[side][verdict]++
    }
    if (verdicts.active === 'matched' && verdicts.draft === 'matched') this.#counts.same++
  }

  addReplaced(replaced: Record<Side, number>): void {
    for (const side of sides) this.#counts[side].replaced += replaced[side]
  }

  report(side: Side) {
    const { not_judged: notJudged, ...counts } = this.#counts[side]
    return { ...counts, notJudged }
  }

  difference() {
    const { same, active, draft } = this.#counts
    return { same, added: draft.matched - same, removed: active.matched - same }
  }

  save(): SavedCounts {
    return this.#counts
  }
}

const noSide: SideCounts = { matched: 0, outranked: 0, suppressed: 0, replaced: 0, not_judged: 0 }
const none: SavedCounts = { scanned: 0, considered: 0, same: 0, active: { ...noSide }, draft: { ...noSide } }
