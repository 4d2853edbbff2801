import type { Invitation, InvitationList, InvitationToCreate } from '../api.js'
import type { Pages } from '../pages.js'
import type { KeyedOptions, RequestOptions, Sender } from '../send.js'
import { withText } from './with-text.js'

export class Invitations {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Newest first, without their tokens. */
  list(options?: RequestOptions): Pages<Invitation, InvitationList> {
    return this.#sender.list('GET /api/developer/v1/invitations', 'data', { query: {} }, options)
  }

  /** Only this response contains the `token`. @throws ApiError if it was lost on the way */
  async create(invitation: InvitationToCreate, options?: KeyedOptions) {
    const path = 'POST /api/developer/v1/invitations'
    return withText(await this.#sender.ask(path, { body: invitation }, options), 'token')
  }

  /** Its link is worth nothing from then on. */
  revoke(id: string, options?: RequestOptions) {
    return this.#sender.ask('DELETE /api/developer/v1/invitations/{id}', { path: { id } }, options)
  }

  /** What the invitation is for. Nothing happens. */
  read(token: string, options?: RequestOptions) {
    const body = { token, dryRun: true }
    return this.#sender.ask('POST /api/developer/v1/invitations/accept', { body }, options)
  }

  /** Makes the user of this client a member. To accept it again changes nothing. */
  accept(token: string, options?: RequestOptions) {
    return this.#sender.ask('POST /api/developer/v1/invitations/accept', { body: { token } }, options)
  }
}
