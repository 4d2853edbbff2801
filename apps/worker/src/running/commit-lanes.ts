import { LatestOwners } from './latest-owners.js'

/** Commits of the two lanes are side by side. In the bulk lane there is one at a time. */
export type CommitLane = 'light' | 'bulk'

/** An outcome or a step of more rows has commits apart: no light one waits behind it. */
export const heavyRows = 1_000
/** So many rows of one owner may be under way before the rest has commits apart, where others have work, too. */
const busyRows = 50

/**
 * Finds the lane in which something is recorded. A commit takes as long as its rows, and what comes meanwhile waits for it. So the burst of one
 * owner has commits apart from those of others, and an owner that has the worker to itself has all in one lane, which is cheaper.
 */
export class CommitLanes {
  readonly #latest: LatestOwners
  /** Rows under way, by owner: of an owner without any there is no entry. */
  readonly #rows = new Map<string, number>()

  constructor(latest = new LatestOwners()) {
    this.#latest = latest
  }

  /** @param rows at least 1, about */
  async record<Result>(
    owner: string,
    rows: number,
    record: (lane: CommitLane) => Promise<Result>,
  ): Promise<Result> {
    const underWay = (this.#rows.get(owner) ?? 0) + rows
    this.#rows.set(owner, underWay)
    this.#latest.note(owner)
    const isBulk = rows > heavyRows || (underWay > busyRows && this.#latest.areBeside(owner))
    try {
      return await record(isBulk ? 'bulk' : 'light')
    } finally {
      this.#leave(owner, rows)
    }
  }

  #leave(owner: string, rows: number): void {
    const left = (this.#rows.get(owner) ?? 0) - rows
    // Sums of fractions are not exact.
    if (left > 0.5) this.#rows.set(owner, left)
    else this.#rows.delete(owner)
  }
}
