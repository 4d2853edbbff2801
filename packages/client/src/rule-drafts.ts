import type { DraftToSave, GuardToSet } from './api.js'
import { type IfTag, type IfVersion, matching, matchingTag } from './if-version.js'
import { preferring } from './run.js'
import type { KeyedOptions, RequestOptions, Sender } from './send.js'

/** What rules may become. */
export class RuleDrafts {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Saves the draft of a rule, in place of the one before. It does nothing until it is promoted. */
  save(id: string, draft: DraftToSave, options: RequestOptions & IfTag = {}) {
    return this.#sender.ask(
      'PUT /api/automation-rules/{id}/draft',
      { path: { id }, body: draft },
      { ...matchingTag(options), isRepeatable: options.ifTag !== undefined },
    )
  }

  /** The draft, and what it would have done since it was saved. */
  get(id: string, { wait = 0, ...options }: ComparisonOptions = {}) {
    const waiting = preferring({ ...options, wait })
    return this.#sender.ask('GET /api/automation-rules/{id}/draft', { path: { id } }, waiting)
  }

  delete(id: string, options: RequestOptions & IfTag = {}) {
    return this.#sender.ask(
      'DELETE /api/automation-rules/{id}/draft',
      { path: { id } },
      { ...matchingTag(options), isRepeatable: options.ifTag !== undefined },
    )
  }

  /** Makes the draft the next version of its rule. @param guard restores the present version where a limit is crossed */
  promote(id: string, { guard, ...options }: PromotionOptions = {}) {
    return this.#sender.ask(
      'POST /api/automation-rules/{id}/draft/promote',
      { path: { id }, body: guard === undefined ? {} : { guard } },
      matchingTag(options),
    )
  }

  /** The guard of a promoted version. */
  guard(id: string, options?: RequestOptions) {
    return this.#sender.ask('GET /api/automation-rules/{id}/guard', { path: { id } }, options)
  }

  /** Ends the guard of a promoted version before its time. */
  endGuard(id: string, options: RequestOptions & IfVersion = {}) {
    return this.#sender.ask(
      'DELETE /api/automation-rules/{id}/guard',
      { path: { id } },
      { ...matching(options), isRepeatable: options.ifVersion !== undefined },
    )
  }

  /** What a rule in shadow mode would have done since it was last changed. */
  difference(id: string, { wait = 0, ...options }: ComparisonOptions = {}) {
    const waiting = preferring({ ...options, wait })
    return this.#sender.ask('GET /api/automation-rules/{id}/difference', { path: { id } }, waiting)
  }
}

export interface ComparisonOptions extends RequestOptions {
  /** How many seconds (at most 30) the service waits until it has read all events. Without it, the difference is what was stored last. */
  wait?: number
}

export interface PromotionOptions extends KeyedOptions, IfTag {
  guard?: GuardToSet | undefined
}
