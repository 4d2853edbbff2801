import type { Database } from '@automation/database'
import { findSuspended } from '@automation/ledger'
import { repeat } from '@automation/process/repeat'
import type { Logger } from 'pino'

const pauseMs = 1_000

/**
 * Knows which workspaces were suspended while this worker holds executions of them: no further call of theirs begins. What it does not hold it cannot load or
 * claim. It asks once a second for the workspaces that it holds something of, and for none if it holds nothing.
 */
export class Suspensions {
  readonly #database: Pick<Database, 'run'>
  /** How many executions of each workspace are held. */
  readonly #held = new Map<string, number>()
  #suspended: ReadonlySet<string> = new Set()
  readonly #looks: ReturnType<typeof repeat>

  constructor(database: Pick<Database, 'run'>, log: Logger) {
    this.#database = database
    this.#looks = repeat(
      () => this.#look(),
      pauseMs,
      (error) =>
        log.warn({ err: error }, 'suspended workspaces could not be read; the next look tries again'),
    )
  }

  has(workspaceId: string): boolean {
    return this.#suspended.has(workspaceId)
  }

  /** While an execution of the workspace is held. */
  async during<Result>(workspaceId: string, work: () => Promise<Result>): Promise<Result> {
    this.#held.set(workspaceId, (this.#held.get(workspaceId) ?? 0) + 1)
    try {
      return await work()
    } finally {
      const left = (this.#held.get(workspaceId) ?? 1) - 1
      if (left === 0) this.#held.delete(workspaceId)
      else this.#held.set(workspaceId, left)
    }
  }

  stop(): Promise<void> {
    return this.#looks.stop()
  }

  async #look(): Promise<void> {
    const ids = [...this.#held.keys()]
    this.#suspended = new Set(ids.length === 0 ? [] : await findSuspended(this.#database, ids))
  }
}
