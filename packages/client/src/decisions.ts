import type { Decision, DecisionPage, DecisionToMake } from './api.js'
import type { Inputs } from './operation.js'
import type { Pages } from './pages.js'
import type { KeyedOptions, RequestOptions, Sender } from './send.js'

type DecisionQuery = NonNullable<Inputs<'GET /api/decisions'>['query']>

export class Decisions {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** What executions ask of people, for the newest events first. */
  list(query: DecisionQuery = {}, options?: RequestOptions): Pages<Decision, DecisionPage> {
    return this.#sender.list('GET /api/decisions', 'decisions', { query }, options)
  }

  /** Decides for an execution. The first decision counts. */
  decide(executionId: string, body: DecisionToMake, options?: KeyedOptions): Promise<Decision> {
    return this.#sender.ask('POST /api/decisions/{id}', { path: { id: executionId }, body }, options)
  }
}
