import type { ReadyAction } from '@automation/engine'
import { listTargets, timesOf } from './action-tally.js'
import type { ActionDifferenceReport } from './report.js'
import { type SavedTargets, Targets } from './targets.js'

export type SavedActionDifference = [
  type: ReadyAction['type'],
  same: number,
  added: number,
  removed: number,
  targets: SavedTargets,
][]

interface Counts {
  same: number
  added: number
  removed: number
  /** Of those that are added. */
  targets: Targets
}

/**
 * Counts, for each type of action, what the draft would do and the active version not, and the other way round. Two actions for one event are
 * the same where their type and their targets are equal. Their texts do not count.
 */
export class ActionDifference {
  readonly #byType: Map<ReadyAction['type'], Counts>

  constructor(saved: SavedActionDifference = []) {
    this.#byType = new Map(
      saved.map(([type, same, added, removed, targets]) => [
        type,
        { same, added, removed, targets: new Targets(targets) },
      ]),
    )
  }

  /** Adds what both would do for one event. */
  add(byActive: readonly ReadyAction[], byDraft: readonly ReadyAction[]): void {
    const left = new Map<string, number>()
    for (const action of byActive) {
      const key = keyOf(action)
      left.set(key, (left.get(key) ?? 0) + timesOf(action))
      this.#countsOf(action.type).removed += timesOf(action)
    }
    for (const action of byDraft) {
      const counts = this.#countsOf(action.type)
      const key = keyOf(action)
      const count = left.get(key) ?? 0
      const same = Math.min(count, timesOf(action))
      const added = timesOf(action) - same
      left.set(key, count - same)
      counts.removed -= same
      counts.same += same
      counts.added += added
      if (added > 0) for (const target of listTargets(action)) counts.targets.add(target)
    }
  }

  list(): ActionDifferenceReport[] {
    return [...this.#byType].map(([type, { same, added, removed, targets }]) => ({
      type,
      same,
      added,
      removed,
      targets: targets.count(),
      isTargetsEstimated: !targets.isExact,
    }))
  }

  save(): SavedActionDifference {
    return [...this.#byType].map(([type, { same, added, removed, targets }]) => [
      type,
      same,
      added,
      removed,
      targets.save(),
    ])
  }

  #countsOf(type: ReadyAction['type']): Counts {
    const known = this.#byType.get(type)
    if (known !== undefined) return known
    const counts = { same: 0, added: 0, removed: 0, targets: new Targets() }
    this.#byType.set(type, counts)
    return counts
  }
}

function keyOf(action: ReadyAction): string {
  return [action.type, ...listTargets(action).toSorted()].join(' ')
}
