import type { GroupMember } from './group-members.js'
import type { GroupMove } from './report.js'

/** By rule: for how many events it would run with the draft alone, and with the active version alone. */
export type SavedMoves = Record<string, [gained: number, lost: number]>

const maxListed = 50

/** Counts the events that would move between the tested rule and others of its group. */
export class MoveTally {
  readonly #moves: Map<string, [gained: number, lost: number]>

  constructor(saved: SavedMoves = {}) {
    this.#moves = new Map(Object.entries(saved).map(([id, [gained, lost]]) => [id, [gained, lost]]))
  }

  add(ruleId: string, kind: 'gained' | 'lost'): void {
    const counts = this.#moves.get(ruleId) ?? [0, 0]
    counts[kind === 'gained' ? 0 : 1]++
    this.#moves.set(ruleId, counts)
  }

  save(): SavedMoves {
    return Object.fromEntries(this.#moves)
  }

  /** Those of most events first. */
  list(members: readonly GroupMember[]): GroupMove[] {
    const names = new Map(members.map(({ ruleId, name }) => [ruleId, name]))
    return Array.from(this.#moves, ([ruleId, [gained, lost]]) => {
      return { ruleId, name: names.get(ruleId) ?? '', gained, lost }
    })
      .sort(
        (one, other) =>
          other.gained + other.lost - one.gained - one.lost || (one.ruleId < other.ruleId ? -1 : 1),
      )
      .slice(0, maxListed)
  }
}
