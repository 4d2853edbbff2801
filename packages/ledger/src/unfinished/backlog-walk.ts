import { firstIdOf } from '@automation/database'
import { endOfTime, firstSliceMs, fitSlice, type LowWaterMark } from './low-water-mark.js'

export const pageSize = 500
const maxPages = 20
/** The new rows are of this last time (ms): two sweeps are at most 12 s apart, so at least two see what becomes due. */
const newMs = 30_000
export const maxNew = 2 * pageSize

/** A position in the order of the rows: the last row that was read. */
export interface Cursor {
  /** Epoch ms */
  time: number
  id: string
}

export interface BacklogPage<Row> {
  rows: Row[]
  /** How many entries of the index were read for it (count-reads.ts). */
  read: number
}

/** Finds the first `pageSize` rows behind a cursor whose time is below `before` (epoch ms). */
export type FindPage<Row> = (after: Cursor, before: number) => Promise<BacklogPage<Row>>

/** Finds `maxNew` rows whose time is not below `from` (epoch ms), the newest first and in turns of their owners. */
export type FindNew<Row> = (from: number) => Promise<Row[]>

/**
 * Reads all unfinished rows of a table, page by page and the oldest first. A walk begins at the low-water mark and continues where
 * the last sweep stopped, so it reaches every row of a long backlog. A page ends with its slice of time, however few rows it has:
 * between two rows the index may contain many finished ones (low-water-mark.ts).
 *
 * A walk through a long backlog, which may be one workspace's, takes many sweeps. So each of them also reads some of the new rows of each owner: work
 * that has just become due does not wait for the walk to come to it.
 */
export class BacklogWalk<Row> {
  readonly #mark: LowWaterMark
  readonly #findPage: FindPage<Row>
  readonly #findNew: FindNew<Row>
  readonly #cursorOf: (row: Row) => Cursor
  /** undefined between two walks */
  #cursor: Cursor | undefined
  #sliceMs = firstSliceMs

  constructor(
    mark: LowWaterMark,
    findPage: FindPage<Row>,
    findNew: FindNew<Row>,
    cursorOf: (row: Row) => Cursor,
  ) {
    this.#mark = mark
    this.#findPage = findPage
    this.#findNew = findNew
    this.#cursorOf = cursorOf
  }

  /**
   * Reads the pages of one sweep. The cursor moves behind a page before the page is returned, whether or not its rows are restored.
   *
   * @param now epoch ms, by Postgres' clock
   */
  async *pages(now: number): AsyncGenerator<Row[]> {
    const oldest = await this.#mark.find(now)
    // First, since the sweep may be over after any page.
    let hasNew = this.#cursor !== undefined
    if (hasNew) yield await this.#new(now)
    if (this.#cursor === undefined && oldest) {
      this.#cursor = startAt(oldest.position)
      this.#sliceMs = firstSliceMs
    }
    for (let page = 0; page < maxPages && this.#cursor; page++) {
      yield await this.#nextPage(this.#cursor, now)
      // A walk that ends with its first page has read them.
      if (hasNew || this.#cursor === undefined) continue
      hasNew = true
      yield await this.#new(now)
    }
  }

  /** Where it takes too long, the walk goes on without it. */
  #new(now: number): Promise<Row[]> {
    return this.#findNew(now - newMs).catch(() => [])
  }

  async #nextPage(cursor: Cursor, now: number): Promise<Row[]> {
    const end = cursor.time + this.#sliceMs
    const isLastSlice = end > now
    const { rows, read } = await this.#findPage(cursor, isLastSlice ? endOfTime : end).catch((error) => {
      // The slice may have been too long.
      this.#sliceMs = firstSliceMs
      throw error
    })
    this.#sliceMs = fitSlice(this.#sliceMs, read)
    const last = rows.at(-1)
    if (rows.length === pageSize && last) this.#cursor = this.#cursorOf(last)
    else this.#cursor = isLastSlice ? undefined : startAt(end)
    return rows
  }
}

/** The cursor below all rows of a time. */
function startAt(time: number): Cursor {
  const before = Math.max(0, time - 1)
  return { time: before, id: firstIdOf(before) }
}
