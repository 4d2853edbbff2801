import type { ListedMember, MemberList, MemberToPut } from '../api.js'
import { type IfTag, matchingTag } from '../if-version.js'
import type { Pages } from '../pages.js'
import type { RequestOptions, Sender } from '../send.js'

export class Members {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Oldest first. */
  list(options?: RequestOptions): Pages<ListedMember, MemberList> {
    return this.#sender.list('GET /api/developer/v1/members', 'data', { query: {} }, options)
  }

  get(userId: string, options?: RequestOptions) {
    return this.#sender.ask('GET /api/developer/v1/members/{userId}', { path: { userId } }, options)
  }

  /** Adds a member, changes their role, or grants support access, which ends by itself. @param userId the `sub` of the user's tokens */
  put(userId: string, member: MemberToPut, options: RequestOptions & IfTag = {}) {
    return this.#sender.ask(
      'PUT /api/developer/v1/members/{userId}',
      { path: { userId }, body: member },
      matchingTag(options),
    )
  }

  remove(userId: string, options: RequestOptions & IfTag = {}) {
    return this.#sender.ask(
      'DELETE /api/developer/v1/members/{userId}',
      { path: { userId } },
      matchingTag(options),
    )
  }
}
