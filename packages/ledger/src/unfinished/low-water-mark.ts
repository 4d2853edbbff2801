/** An unfinished row. Times are epoch ms. */
export interface UnfinishedRow {
  /** Its position in the index, which is in the order of time. */
  position: number
  /** Since when a worker should have finished it. */
  dueSince: number
}

/**
 * Reads the first unfinished row of an index whose position is at least `from` and below `to`.
 *
 * @returns the row, and how many entries of the index were read (count-reads.ts)
 */
export type FindFirst = (
  from: number,
  to: number,
) => Promise<{ first: UnfinishedRow | undefined; read: number }>

/** Above every position: the last time that fits into an id. */
export const endOfTime = 2 ** 48 - 1
export const firstSliceMs = 10_000
/** Where clocks differ by more, or a commit takes longer, only the walk finds a new row. */
const marginMs = 10_000
/**
 * Where an unfinished row lies within this distance above the mark, a look skips nothing. It is also the longest recommended
 * interval between two looks of a process.
 */
const neighbourhoodMs = 60_000
/** Entries: 2 ms where they are in memory, 15 ms where they have to be fetched. */
const readsOfSlice = 5_000
const readsOfLook = 15_000

/** The length of the next slice, by the number of entries in the last one. */
export function fitSlice(sliceMs: number, read: number): number {
  return sliceMs * Math.min(2, Math.max(1 / 16, readsOfSlice / read))
}

/**
 * Finds the oldest unfinished row of a table without reading all finished rows.
 *
 * A partial index over unfinished rows keeps the entry of a finished row while any snapshot in the database is older than its end:
 * during a backup, or a long query of a standby. Neither vacuum nor a scan may remove such an entry, and it keeps its position. So a
 * scan from the beginning reads all of them: 3.6 million after an hour at 1,000 a second. No order of an index avoids that, since
 * finished and unfinished entries have the same keys. So each look reads
 *
 *   beginning ── not yet read ── #walkedTo ── read, nothing found ── #mark ── read by every look ── newest
 *                               ◀── walk
 *
 * 1. from the mark on, which is the oldest known unfinished row, or the time of the last look where there was none;
 * 2. some thousand entries below `#walkedTo`, slice by slice. This walk goes backwards from the mark to the beginning, and then
 *    begins again. Without an old snapshot one slice contains everything, so that each look reads the whole index.
 *
 * Invariant: the next look finds an unfinished row above the mark less `marginMs`, and the next walk finds it at any position.
 * Below the mark there may be
 * - rows that this process has not read yet, because it has just started, or has not looked for a while;
 * - an event whose id is older than its commit. An id contains the time of its creation, by the clock of an API or worker. An event
 *   that a rule emits, or that reports a failure, may wait for Postgres for hours before it is committed;
 * - an execution that is due in the past: a pause or a next attempt that a worker computed by its clock and recorded late, or a row
 *   that was changed by hand.
 * All other rows become due at Postgres' now() or later. The mark is never in the future, even if the clock that created an id was wrong.
 */
export class LowWaterMark {
  readonly #findFirst: FindFirst
  #mark: number | undefined
  #walkedTo = 0
  #sliceMs = firstSliceMs
  /** Entries that the current walk has read. */
  #read = 0

  constructor(findFirst: FindFirst) {
    this.#findFirst = findFirst
  }

  /**
   * Finds the oldest unfinished row that is known by now.
   *
   * @param now epoch ms, by Postgres' clock
   * @throws what Postgres throws, unless a slice of the walk took too long
   */
  async find(now: number): Promise<UnfinishedRow | undefined> {
    const newest = await this.#readFromMark(now)
    this.#mark = Math.min(newest?.position ?? now, now)
    const older = await this.#walkOn()
    return older ?? newest
  }

  async #readFromMark(now: number): Promise<UnfinishedRow | undefined> {
    const newestMs = now - marginMs
    if (this.#mark !== undefined) {
      const isNear = this.#mark + neighbourhoodMs > newestMs
      const end = isNear ? endOfTime : this.#mark + neighbourhoodMs
      const { first } = await this.#findFirst(this.#mark - marginMs, end)
      if (first || isNear) return first
    }
    // The rows between the mark and the newest ones are not read yet, and there may be many.
    this.#beginWalk(newestMs, firstSliceMs)
    return (await this.#findFirst(newestMs, endOfTime)).first
  }

  async #walkOn(): Promise<UnfinishedRow | undefined> {
    let oldest: UnfinishedRow | undefined
    for (let readByLook = 0; readByLook < readsOfLook; ) {
      const from = Math.max(0, this.#walkedTo - this.#sliceMs)
      const slice = await this.#findFirst(from, this.#walkedTo).catch(() => undefined)
      if (slice === undefined) {
        // The slice took too long, or Postgres is away. In the second case the next look throws.
        this.#sliceMs = firstSliceMs
        break
      }
      readByLook += slice.read
      this.#read += slice.read
      if (slice.first) {
        oldest = slice.first
        this.#mark = oldest.position
      }
      if (from === 0) {
        const isShort = this.#read < readsOfLook
        this.#beginWalk((this.#mark ?? 0) - marginMs, isShort ? endOfTime : firstSliceMs)
        break
      }
      this.#walkedTo = from
      this.#sliceMs = fitSlice(this.#sliceMs, slice.read)
    }
    return oldest
  }

  #beginWalk(from: number, sliceMs: number): void {
    this.#walkedTo = from
    this.#sliceMs = sliceMs
    this.#read = 0
  }
}
