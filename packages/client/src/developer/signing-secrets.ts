import type { SigningSecret, SigningSecretList, SigningSecretToCreate } from '../api.js'
import type { Inputs } from '../operation.js'
import { Pages } from '../pages.js'
import type { RequestOptions, Sender } from '../send.js'

type SecretQuery = NonNullable<Inputs<'GET /api/developer/v1/signing-secrets'>['query']>

export class SigningSecrets {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Newest first; those that are retired or revoked, too. */
  list(query: SecretQuery = {}, options?: RequestOptions): Pages<SigningSecret, SigningSecretList> {
    return new Pages(
      () => this.#sender.ask('GET /api/developer/v1/signing-secrets', { query }, options),
      (list) => list.data,
    )
  }

  /** Its text, `secret`, is shown this once. */
  create(secret: SigningSecretToCreate, options?: RequestOptions) {
    return this.#sender.ask('POST /api/developer/v1/signing-secrets', { body: secret }, options)
  }

  /** It signs for a while longer, until its sender has the next one. @param overlap for how long: `24h` */
  retire(id: string, { overlap, ...options }: RequestOptions & { overlap?: string } = {}) {
    const body = overlap === undefined ? {} : { overlap }
    return this.#sender.ask(
      'POST /api/developer/v1/signing-secrets/{id}/retire',
      { path: { id }, body },
      options,
    )
  }

  /** From the next webhook on it signs nothing. */
  revoke(id: string, options?: RequestOptions) {
    return this.#sender.ask('DELETE /api/developer/v1/signing-secrets/{id}', { path: { id } }, options)
  }
}
