import type { ApiKey, ApiKeyList, ApiKeyToCreate } from '../api.js'
import type { Pages } from '../pages.js'
import type { KeyedOptions, RequestOptions, Sender } from '../send.js'
import { withText } from './with-text.js'

export class ApiKeys {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Includes expired and revoked keys, newest first. */
  list(options?: RequestOptions): Pages<ApiKey, ApiKeyList> {
    return this.#sender.list('GET /api/developer/v1/api-keys', 'data', { query: {} }, options)
  }

  /** Only this response contains the text of the key, `key`. @throws ApiError if it was lost on the way */
  async create(key: ApiKeyToCreate, options?: KeyedOptions) {
    return withText(await this.#sender.ask('POST /api/developer/v1/api-keys', { body: key }, options), 'key')
  }

  /** The key without its text. */
  get(id: string, options?: RequestOptions) {
    return this.#sender.ask('GET /api/developer/v1/api-keys/{id}', { path: { id } }, options)
  }

  /** Takes effect immediately. */
  revoke(id: string, options?: RequestOptions) {
    return this.#sender.ask('DELETE /api/developer/v1/api-keys/{id}', { path: { id } }, options)
  }
}
