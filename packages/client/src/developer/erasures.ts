import type { Erasure, ErasureList, ErasureToCreate } from '../api.js'
import type { Inputs } from '../operation.js'
import type { Pages } from '../pages.js'
import type { RequestOptions, Sender } from '../send.js'

type ErasureQuery = NonNullable<Inputs<'GET /api/developer/v1/erasures'>['query']>
type Wished = Omit<ErasureToCreate, 'dryRun'>

export class Erasures {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Newest first, with their progress, and without their values. */
  list(query: ErasureQuery = {}, options?: RequestOptions): Pages<Erasure, ErasureList> {
    return this.#sender.list('GET /api/developer/v1/erasures', 'data', { query }, options)
  }

  get(id: string, options?: RequestOptions) {
    return this.#sender.ask('GET /api/developer/v1/erasures/{id}', { path: { id } }, options)
  }

  /** What an erasure would change. Nothing happens. */
  count(erasure: Wished, options?: RequestOptions) {
    const body = { ...erasure, dryRun: true }
    return this.#sender.ask('POST /api/developer/v1/erasures', { body }, options)
  }

  /** Erases a value permanently. Read its progress by `get`. */
  create(erasure: Wished, options?: RequestOptions) {
    const body = { ...erasure, dryRun: false }
    return this.#sender.ask('POST /api/developer/v1/erasures', { body }, options)
  }
}
