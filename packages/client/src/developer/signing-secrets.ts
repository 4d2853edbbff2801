import type { SigningSecret, SigningSecretList, SigningSecretToCreate, SigningSecretToPut } from '../api.js'
import type { Inputs } from '../operation.js'
import type { Pages } from '../pages.js'
import type { KeyedOptions, RequestOptions, Sender } from '../send.js'
import { withText } from './with-text.js'

type SecretQuery = NonNullable<Inputs<'GET /api/developer/v1/signing-secrets'>['query']>

export class SigningSecrets {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Includes retired and revoked secrets, newest first. */
  list(query: SecretQuery = {}, options?: RequestOptions): Pages<SigningSecret, SigningSecretList> {
    return this.#sender.list('GET /api/developer/v1/signing-secrets', 'data', { query }, options)
  }

  /** Only this response contains the text of the secret, `secret`. @throws ApiError if it was lost on the way */
  async create(secret: SigningSecretToCreate, options?: KeyedOptions) {
    const name = 'POST /api/developer/v1/signing-secrets'
    return withText(await this.#sender.ask(name, { body: secret }, options), 'secret')
  }

  /** The secret without its text. */
  get(id: string, options?: RequestOptions) {
    return this.#sender.ask('GET /api/developer/v1/signing-secrets/{id}', { path: { id } }, options)
  }

  /** Stores the text that the provider has made, or other settings. What is omitted stays. */
  put(id: string, secret: SigningSecretToPut, options?: RequestOptions) {
    return this.#sender.ask(
      'PUT /api/developer/v1/signing-secrets/{id}',
      { path: { id }, body: secret },
      options,
    )
  }

  /** The secret remains valid while its sender switches to the next one. @param overlap how long: `24h` */
  retire(id: string, { overlap, ...options }: KeyedOptions & { overlap?: string } = {}) {
    const body = overlap === undefined ? {} : { overlap }
    return this.#sender.ask(
      'POST /api/developer/v1/signing-secrets/{id}/retire',
      { path: { id }, body },
      options,
    )
  }

  /** Takes effect immediately. */
  revoke(id: string, options?: RequestOptions) {
    return this.#sender.ask('DELETE /api/developer/v1/signing-secrets/{id}', { path: { id } }, options)
  }
}
