import type { RuleVersion, RuleVersionPage } from './api.js'
import { type IfVersion, matching } from './if-version.js'
import type { Inputs } from './operation.js'
import type { Pages } from './pages.js'
import type { KeyedOptions, RequestOptions, Sender } from './send.js'

type PageQuery = NonNullable<Inputs<'GET /api/automation-rules/{id}/versions'>['query']>

/** The versions of a rule's definition. */
export class RuleVersions {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Newest first. */
  list(id: string, query: PageQuery = {}, options?: RequestOptions): Pages<RuleVersion, RuleVersionPage> {
    const name = 'GET /api/automation-rules/{id}/versions'
    return this.#sender.list(name, 'versions', { path: { id }, query }, options)
  }

  get(id: string, version: number, options?: RequestOptions) {
    const path = { id, version: String(version) }
    return this.#sender.ask('GET /api/automation-rules/{id}/versions/{version}', { path }, options)
  }

  /** Restores the definition of this version, as a new version. */
  restore(id: string, version: number, options: KeyedOptions & IfVersion = {}) {
    const path = { id, version: String(version) }
    const name = 'POST /api/automation-rules/{id}/versions/{version}/restore'
    return this.#sender.ask(name, { path }, matching(options))
  }
}
