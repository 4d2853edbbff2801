import type { Credential, CredentialList, CredentialToPatch, CredentialToPut } from '../api.js'
import type { Pages } from '../pages.js'
import type { RequestOptions, Sender } from '../send.js'

export class Credentials {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** By name, without their values. */
  list(options?: RequestOptions): Pages<Credential, CredentialList> {
    return this.#sender.list('GET /api/developer/v1/credentials', 'data', { query: {} }, options)
  }

  /** The credential without its values. */
  get(name: string, options?: RequestOptions) {
    return this.#sender.ask('GET /api/developer/v1/credentials/{name}', { path: { name } }, options)
  }

  /** Creates the credential, or replaces its values and hosts. @param name as in `{{credentials.NAME}}` */
  put(name: string, credential: CredentialToPut, options?: RequestOptions) {
    return this.#sender.ask(
      'PUT /api/developer/v1/credentials/{name}',
      { path: { name }, body: credential },
      options,
    )
  }

  /** Changes part of a credential: what is absent stays. */
  patch(name: string, changes: CredentialToPatch, options?: RequestOptions) {
    return this.#sender.ask(
      'PATCH /api/developer/v1/credentials/{name}',
      { path: { name }, body: changes },
      options,
    )
  }

  /** @throws ApiError with `credential_in_use` if an active rule or a draft uses it */
  delete(name: string, options?: RequestOptions) {
    return this.#sender.ask('DELETE /api/developer/v1/credentials/{name}', { path: { name } }, options)
  }
}
