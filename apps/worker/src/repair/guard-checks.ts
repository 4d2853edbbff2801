import { isWorkspaceBusy } from '@automation/access'
import { FairQueue, NotAdmitted, ownerOf } from '@automation/admission'
import type { Database } from '@automation/database'
import { type ClaimedGuard, checkGuard } from '@automation/rules'
import type { Logger } from 'pino'

/**
 * Places are of the worker's connections, which its executions need, and a workspace has one. What an owner cannot have waiting is claimed again a second
 * later.
 */
const places = { total: 3, perOwner: 2, perKey: 1, waiting: 100 }

/** Checks claimed guards beside each other, in turns of their owners. One that is being changed is left for a second, with all of its workspace. */
export class GuardChecks {
  readonly #places = new FairQueue(places)
  /** Of the rules whose guards wait or are being checked. */
  readonly #inProgress = new Set<string>()
  readonly #checks = new Set<Promise<void>>()
  readonly #database: Database
  readonly #log: Logger
  #isStopped = false

  constructor(database: Database, log: Logger) {
    this.#database = database
    this.#log = log
  }

  begin(claimed: ClaimedGuard[]): void {
    const guards = claimed.filter(({ ruleId }) => !this.#inProgress.has(ruleId))
    for (const id of new Set(guards.map(({ workspaceId }) => workspaceId))) {
      const own = guards.filter(({ workspaceId }) => workspaceId === id)
      for (const { ruleId } of own) this.#inProgress.add(ruleId)
      const check = this.#checkInTurn(own).finally(() => {
        for (const { ruleId } of own) this.#inProgress.delete(ruleId)
        this.#checks.delete(check)
      })
      this.#checks.add(check)
    }
  }

  /** Waits until all that has begun has ended. */
  async end(): Promise<void> {
    await Promise.all(this.#checks)
  }

  /** What has its place ends, and nothing else begins. */
  stop(): Promise<void> {
    this.#isStopped = true
    return this.end()
  }

  async #checkInTurn(guards: ClaimedGuard[]): Promise<void> {
    const [first] = guards
    if (first === undefined) return
    try {
      await this.#places.run(ownerOf(first), () => this.#checkAll(guards), { key: first.workspaceId })
    } catch (error) {
      if (!(error instanceof NotAdmitted)) throw error
    }
  }

  async #checkAll(guards: ClaimedGuard[]): Promise<void> {
    for (const guard of guards) {
      if (this.#isStopped) return
      const { ruleId, workspaceId, previousVersion } = guard
      try {
        const crossing = await checkGuard(this.#database, guard)
        // The sweeper adds the jobs of its service events.
        if (crossing) this.#log.warn({ ruleId, workspaceId, previousVersion, ...crossing }, 'a guard tripped')
      } catch (error) {
        this.#log.warn({ err: error, ruleId, workspaceId }, 'a guard could not be checked')
        // Any other guard that fails must not keep those after it from being checked.
        if (isWorkspaceBusy(error)) return
      }
    }
  }
}
