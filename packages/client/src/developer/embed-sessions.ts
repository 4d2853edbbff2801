import type { EmbedSession, EmbedSessionList, EmbedSessionToCreate } from '../api.js'
import type { Pages } from '../pages.js'
import type { KeyedOptions, RequestOptions, Sender } from '../send.js'
import { withText } from './with-text.js'

export class EmbedSessions {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Those that are live, the newest first. */
  list(query: { userId?: string } = {}, options?: RequestOptions): Pages<EmbedSession, EmbedSessionList> {
    return this.#sender.list('GET /api/developer/v1/embed-sessions', 'data', { query }, options)
  }

  /** Only this response contains the `url`. @throws ApiError if it was lost on the way */
  async create(session: EmbedSessionToCreate, options?: KeyedOptions) {
    const path = 'POST /api/developer/v1/embed-sessions'
    return withText(await this.#sender.ask(path, { body: session }, options), 'url')
  }

  /** Its token and its link are worth nothing from then on. */
  end(id: string, options?: RequestOptions) {
    return this.#sender.ask('DELETE /api/developer/v1/embed-sessions/{id}', { path: { id } }, options)
  }

  /** Ends all of a user. */
  endOfUser(userId: string, options?: RequestOptions) {
    return this.#sender.ask('DELETE /api/developer/v1/embed-sessions', { query: { userId } }, options)
  }

  /** For the server of the frame: which origins may show it. It needs no token. */
  frame(id: string, options?: RequestOptions) {
    return this.#sender.ask('GET /api/developer/v1/embed-sessions/{id}/frame', { path: { id } }, options)
  }

  /** For the frame: exchanges the secret of its link for its token, once. It needs no token. */
  open(id: string, secret: string, options?: RequestOptions) {
    const path = 'POST /api/developer/v1/embed-sessions/{id}/open'
    return this.#sender.ask(path, { path: { id }, body: { secret } }, options)
  }
}
