export interface PaceLimits {
  /** How long (ms) a caller may take not a single byte. */
  stallMs: number
  /** Bytes a second, averaged over the window. */
  minRate: number
  windowMs: number
}

/**
 * A phone at the edge of its network (GPRS) reads 5 KB a second. The kernel takes more only when about a third of its buffer is free, up to a megabyte: so a
 * caller who reads 40 KB a second may seem to stall for half a minute.
 */
export const paceLimits: PaceLimits = { stallMs: 30_000, minRate: 4_096, windowMs: 60_000 }

/** How fast a caller takes bytes that wait to be sent. */
export class ReadingPace {
  readonly #limits: PaceLimits
  /** When a byte was last seen to be sent, and how many were sent by then. */
  #last: { at: number; sent: number }
  /** The same of the beginning of the window. */
  #begin: { at: number; sent: number }

  constructor(limits: PaceLimits, at: number, sent: number) {
    this.#limits = limits
    this.#last = { at, sent }
    this.#begin = { at, sent }
  }

  /** @param sent bytes of the connection so far @param at (ms), by a monotonic clock */
  isTooSlow(at: number, sent: number): boolean {
    const { stallMs, minRate, windowMs } = this.#limits
    if (sent > this.#last.sent) this.#last = { at, sent }
    if (at - this.#last.at >= stallMs) return true
    const ms = at - this.#begin.at
    if (ms < windowMs) return false
    const isTooSlow = (sent - this.#begin.sent) * 1_000 < minRate * ms
    this.#begin = { at, sent }
    return isTooSlow
  }
}
