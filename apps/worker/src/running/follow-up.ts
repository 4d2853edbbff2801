import type { Database } from '@automation/database'
import type { FollowUps } from '@automation/ledger'
import type { EventQueue } from '@automation/queue'
import { pauseRules } from '@automation/rules'
import type { Logger } from 'pino'

/** How many jobs are added at once (50 ms); the sweeper adds the others at its own pace. */
const maxJobs = 500

/**
 * Does what has to follow a commit, without anybody waiting for it: adds the jobs of deliveries to subscriptions and of executions whose event has come
 * (the sweeper adds those that are missing) and pauses rules that have reached their limit of failures.
 *
 * A workspace has one pause under way at a time. Its rules that reach their limit meanwhile are paused together: however many
 * executions fail, they cost few statements, and no workspace waits for another.
 */
export class FollowUp {
  readonly #database: Database
  readonly #queue: Pick<EventQueue, 'addCaused' | 'addDue'>
  readonly #log: Logger
  /** By workspace, while a pause of it is under way: the rules to pause next. */
  readonly #pausing = new Map<string, Set<string>>()

  constructor(database: Database, queue: Pick<EventQueue, 'addCaused' | 'addDue'>, log: Logger) {
    this.#database = database
    this.#queue = queue
    this.#log = log
  }

  begin({ deliveries, failingRules, woken = [] }: FollowUps): void {
    this.#addJobs(deliveries)
    for (const execution of woken.slice(0, maxJobs)) this.#queue.addDue(execution).catch(() => {})
    for (const { workspaceId, ruleId } of failingRules) {
      const next = this.#pausing.get(workspaceId)
      if (next) next.add(ruleId)
      else void this.#pauseAll(workspaceId, ruleId)
    }
  }

  #addJobs(events: FollowUps['deliveries']): void {
    for (const event of events.slice(0, maxJobs)) this.#queue.addCaused([event]).catch(() => {})
  }

  async #pauseAll(workspaceId: string, ruleId: string): Promise<void> {
    let ruleIds = [ruleId]
    this.#pausing.set(workspaceId, new Set())
    // Rules of one commit are paused together.
    await Promise.resolve()
    while (ruleIds.length > 0) {
      ruleIds.push(...this.#takeNext(workspaceId))
      await this.#pause(workspaceId, ruleIds)
      ruleIds = this.#takeNext(workspaceId)
    }
    this.#pausing.delete(workspaceId)
  }

  #takeNext(workspaceId: string): string[] {
    const next = [...(this.#pausing.get(workspaceId) ?? [])]
    this.#pausing.set(workspaceId, new Set())
    return next
  }

  async #pause(workspaceId: string, ruleIds: string[]): Promise<void> {
    try {
      const paused = await pauseRules(this.#database, workspaceId, ruleIds, (events) => this.#addJobs(events))
      if (paused.length > 0)
        this.#log.info({ workspaceId, ruleIds: paused }, 'paused rules that keep failing')
    } catch (error) {
      const fields = { err: error, workspaceId, ruleIds }
      this.#log.warn(fields, 'rules could not be paused; the next failure of each tries again')
    }
  }
}
