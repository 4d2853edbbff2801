import type { Database } from '@automation/database'
import {
  type HeldLease,
  releaseLeases,
  renewLeases,
  type Step,
  withdrawInterruptions,
} from '@automation/ledger'
import { repeat } from '@automation/process/repeat'
import type { Logger } from 'pino'

const renewMs = 2_000

/**
 * Keeps the executions that this worker holds. One statement renews all leases every two seconds, on a connection of its own. When
 * the renewals stop, the executions are due, and another worker claims them.
 *
 * That worker counts an interruption, as if this one had ended. If this one is alive, it withdraws the count when it notices the
 * loss: it slept, or Postgres was slow, and the execution is not to blame. The same goes for an execution that this worker claimed,
 * or may have claimed, and could not begin to continue: it is given back, and where another worker was faster, the count withdrawn.
 *
 *   held ──renewed──▶ held ──released──▶ forgotten
 *     └──another worker's──▶ lost ──count withdrawn──▶ forgotten
 *   claimed ──given back──▶ lost
 */
export class Leases {
  readonly #database: Database
  readonly #log: Logger
  /** Execution ids by lease. */
  readonly #held = new Map<string, string>()
  readonly #lost = new Map<string, string>()
  readonly #renewal: ReturnType<typeof repeat>
  /** Apart from the renewal, since it waits for locks and the renewal must not. */
  readonly #withdrawal: ReturnType<typeof repeat>

  constructor(database: Database, log: Logger, pauseMs = renewMs) {
    this.#database = database
    this.#log = log
    this.#renewal = repeat(
      () => this.#renew(),
      pauseMs,
      (error) => log.warn({ err: error }, 'leases could not be renewed'),
    )
    this.#withdrawal = repeat(
      () => this.#withdraw(),
      pauseMs,
      (error) => log.warn({ err: error }, 'interruptions could not be withdrawn; retrying'),
    )
  }

  hold({ execution, lease }: { execution: { record: { id: string } }; lease: string }): void {
    this.#held.set(lease, execution.record.id)
  }

  release({ lease }: Pick<Step, 'lease'>): void {
    this.#held.delete(lease)
  }

  /** Notes an execution whose record was refused. */
  noteLost({ execution, lease }: Step): void {
    this.#lost.set(lease, execution.record.id)
  }

  /** Gives back an execution that this worker does not continue although it may have claimed it. */
  giveBack({ id, lease }: HeldLease): void {
    this.#lost.set(lease, id)
  }

  async stop(): Promise<void> {
    await Promise.all([this.#renewal.stop(), this.#withdrawal.stop()])
  }

  /** Releases what is still held: it is due at once, for another worker, and what this one still records of it is refused. */
  async releaseAll(): Promise<void> {
    await this.#withdraw().catch((error) =>
      this.#log.warn({ err: error }, 'interruptions could not be withdrawn'),
    )
    if (this.#held.size === 0) return
    this.#log.info({ executions: this.#held.size }, 'releasing executions whose calls take too long')
    await releaseLeases(this.#database, listLeases(this.#held)).catch((error) =>
      this.#log.warn({ err: error }, 'executions could not be released; their leases expire'),
    )
  }

  async #renew(): Promise<void> {
    if (this.#held.size === 0) return
    for (const lease of await renewLeases(this.#database, listLeases(this.#held))) {
      const id = this.#held.get(lease)
      if (id !== undefined) this.#lost.set(lease, id)
      this.#held.delete(lease)
    }
  }

  async #withdraw(): Promise<void> {
    if (this.#lost.size === 0) return
    const lost = listLeases(this.#lost)
    // In this order: one that is not released any more has been claimed, and counted.
    await releaseLeases(this.#database, lost)
    await withdrawInterruptions(this.#database, lost)
    for (const { lease } of lost) this.#lost.delete(lease)
  }
}

function listLeases(ids: Map<string, string>): HeldLease[] {
  return Array.from(ids, ([lease, id]) => ({ id, lease }))
}
