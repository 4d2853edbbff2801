import type { ApiKey, ApiKeyList, ApiKeyToCreate } from '../api.js'
import { Pages } from '../pages.js'
import type { RequestOptions, Sender } from '../send.js'

export class ApiKeys {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Newest first; those that are expired or revoked, too. */
  list(options?: RequestOptions): Pages<ApiKey, ApiKeyList> {
    return new Pages(
      () => this.#sender.ask('GET /api/developer/v1/api-keys', {}, options),
      (list) => list.data,
    )
  }

  /** Its text, `key`, is shown this once. */
  create(key: ApiKeyToCreate, options?: RequestOptions) {
    return this.#sender.ask('POST /api/developer/v1/api-keys', { body: key }, options)
  }

  /** From the next request on it is none. */
  revoke(id: string, options?: RequestOptions) {
    return this.#sender.ask('DELETE /api/developer/v1/api-keys/{id}', { path: { id } }, options)
  }
}
