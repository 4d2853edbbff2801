import { refusals } from '../../errors.js'

interface Waiter {
  isGone(): boolean
  begin(): void
  refuse(): void
}

/**
 * Lets audits begin: a few at a time, and one of each workspace. A free slot goes round the workspaces that wait, so nobody waits
 * behind all requests of another.
 *
 *   waiting ──slot free, none of its workspace under way──▶ under way ──▶ ended
 *      └── waited for too long, caller gone ──▶ refused with 503
 *
 * No audit waits while it could begin. So a newcomer that finds a slot has overtaken nobody.
 */
export class AuditSlots {
  readonly #slots: number
  readonly #patienceMs: number
  /** The workspaces with an audit under way. */
  readonly #underWay = new Set<string>()
  /** By workspace; the first one is next. */
  readonly #waiting = new Map<string, Waiter[]>()

  /** @param patienceMs how long a request may wait */
  constructor(slots: number, patienceMs: number) {
    this.#slots = slots
    this.#patienceMs = patienceMs
  }

  /**
   * @param isGone whether nobody waits for the result any longer; an audit for nobody does not begin
   * @throws a 503 refusal, by its promise, where the audit did not begin
   */
  async run<Result>(
    workspaceId: string,
    isGone: () => boolean,
    audit: () => Promise<Result>,
  ): Promise<Result> {
    await this.#enter(workspaceId, isGone)
    try {
      return await audit()
    } finally {
      this.#leave(workspaceId)
    }
  }

  async #enter(workspaceId: string, isGone: () => boolean): Promise<void> {
    if (isGone()) throw refusals.unavailable()
    if (this.#mayBegin(workspaceId)) this.#underWay.add(workspaceId)
    else await this.#wait(workspaceId, isGone)
  }

  #mayBegin(workspaceId: string): boolean {
    return this.#underWay.size < this.#slots && !this.#underWay.has(workspaceId)
  }

  #wait(workspaceId: string, isGone: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = () => {
        clearTimeout(timer)
        this.#remove(workspaceId, waiter)
        reject(refusals.unavailable())
      }
      const begin = () => {
        clearTimeout(timer)
        this.#remove(workspaceId, waiter)
        this.#underWay.add(workspaceId)
        resolve()
      }
      const timer = setTimeout(refuse, this.#patienceMs)
      const waiter = { isGone, begin, refuse }
      this.#waiting.set(workspaceId, [...(this.#waiting.get(workspaceId) ?? []), waiter])
    })
  }

  #remove(workspaceId: string, waiter: Waiter): void {
    const others = (this.#waiting.get(workspaceId) ?? []).filter((one) => one !== waiter)
    if (others.length > 0) this.#waiting.set(workspaceId, others)
    else this.#waiting.delete(workspaceId)
  }

  /** The workspace has had its turn: where more of its requests wait, they go behind the others. */
  #leave(workspaceId: string): void {
    this.#underWay.delete(workspaceId)
    const waiters = this.#waiting.get(workspaceId)
    if (waiters !== undefined && this.#waiting.delete(workspaceId)) this.#waiting.set(workspaceId, waiters)
    this.#admitWaiting()
  }

  #admitWaiting(): void {
    for (const [workspaceId, waiters] of [...this.#waiting]) {
      if (!this.#mayBegin(workspaceId)) continue
      for (const waiter of waiters) {
        if (!waiter.isGone()) {
          waiter.begin()
          break
        }
        waiter.refuse()
      }
    }
  }
}
