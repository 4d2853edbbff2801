import { LatestOwners } from './latest-owners.js'

/** Commits of the two lanes are side by side. In the bulk lane there is one at a time. */
export type CommitLane = 'light' | 'bulk'

/** An outcome or a step of more rows has commits apart: no light one waits behind it. */
export const heavyRows = 1_000
/** So many rows of one owner may be under way before the rest has commits apart, where others have work, too. */
export const busyRows = 50

/** What is under way of an owner. */
interface Recording {
  count: number
  rows: number
  /** How many of them are in the bulk lane. */
  bulk: number
}

/**
 * Finds the lane in which something is recorded. A commit takes as long as its rows, and what comes meanwhile waits for it. So the burst of one
 * owner has commits apart from those of others, and an owner that has the worker to itself has all in one lane, which is cheaper. A burst stays in its
 * lane: commits side by side would wait for the counters of the same rules.
 */
export class CommitLanes {
  readonly #latest: LatestOwners
  /** By owner: of one without anything under way there is no entry. */
  readonly #owners = new Map<string, Recording>()

  constructor(latest = new LatestOwners()) {
    this.#latest = latest
  }

  async record<Result>(
    owner: string,
    rows: number,
    record: (lane: CommitLane) => Promise<Result>,
  ): Promise<Result> {
    this.#latest.note(owner)
    const underWay = this.#owners.get(owner) ?? { count: 0, rows: 0, bulk: 0 }
    this.#owners.set(owner, underWay)
    const isBulk = rows > heavyRows || (isBurst(underWay, rows) && this.#latest.areBeside(owner))
    underWay.count++
    underWay.rows += rows
    if (isBulk) underWay.bulk++
    try {
      return await record(isBulk ? 'bulk' : 'light')
    } finally {
      underWay.rows -= rows
      if (isBulk) underWay.bulk--
      if (--underWay.count === 0) this.#owners.delete(owner)
    }
  }
}

/** One outcome is no burst, however many rows it has. */
function isBurst(underWay: Recording, rows: number): boolean {
  return underWay.bulk > 0 || (underWay.count > 0 && underWay.rows + rows > busyRows)
}
