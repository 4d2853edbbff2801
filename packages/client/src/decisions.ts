import type { Decision, DecisionPage, DecisionToMake } from './api.js'
import type { Inputs } from './operation.js'
import { Pages } from './pages.js'
import type { KeyedOptions, RequestOptions, Sender } from './send.js'

type DecisionQuery = NonNullable<Inputs<'GET /api/decisions'>['query']>

export class Decisions {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** What executions ask of people, for the newest events first. */
  list(query: DecisionQuery = {}, options?: RequestOptions): Pages<Decision, DecisionPage> {
    return new Pages(
      (cursor) => this.#sender.ask('GET /api/decisions', { query: { ...query, ...cursor } }, options),
      (page) => page.decisions,
    )
  }

  /** Decides for an execution. The first decision counts. */
  decide(executionId: string, body: DecisionToMake, options?: KeyedOptions): Promise<Decision> {
    return this.#sender.ask('POST /api/decisions/{id}', { path: { id: executionId }, body }, options)
  }
}
