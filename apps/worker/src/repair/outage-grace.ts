import { leaseSeconds } from '@automation/ledger'

const leaseMs = leaseSeconds * 1_000

/**
 * Leases run out while Postgres is unavailable, and their holders are alive. When it is back they renew them, and record what they have done. So
 * what fell due meanwhile is left to them for as long as a lease. Without that, a failover would interrupt every call in progress.
 *
 *   heard ──silence for longer than a lease──▶ grace ──a lease later──▶ heard
 */
export class OutageGrace {
  readonly #clock: () => number
  #heardAt: number
  #endsAt = 0
  #dueBefore = 0

  /** @param clock of this process (ms) */
  constructor(clock = () => performance.now()) {
    this.#clock = clock
    this.#heardAt = clock()
  }

  /**
   * Notes that Postgres responds.
   *
   * @param now epoch ms, by its clock
   * @returns the time (epoch ms) before which executions fell due that may be restored
   */
  hear(now: number): number {
    const at = this.#clock()
    const silentMs = at - this.#heardAt
    this.#heardAt = at
    if (silentMs > leaseMs) {
      this.#endsAt = at + leaseMs
      this.#dueBefore = now - silentMs
    }
    return at < this.#endsAt ? this.#dueBefore : Number.POSITIVE_INFINITY
  }
}
