import type { Member, MemberList, Role } from '../api.js'
import { Pages } from '../pages.js'
import type { RequestOptions, Sender } from '../send.js'

export class Members {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Oldest first. */
  list(options?: RequestOptions): Pages<Member, MemberList> {
    return new Pages(
      () => this.#sender.ask('GET /api/developer/v1/members', {}, options),
      (list) => list.data,
    )
  }

  get(userId: string, options?: RequestOptions) {
    return this.#sender.ask('GET /api/developer/v1/members/{userId}', { path: { userId } }, options)
  }

  /** Adds a member, or changes its role. @param userId the `sub` of the user's tokens */
  put(userId: string, role: Role, options?: RequestOptions) {
    return this.#sender.ask(
      'PUT /api/developer/v1/members/{userId}',
      { path: { userId }, body: { role } },
      options,
    )
  }

  remove(userId: string, options?: RequestOptions) {
    return this.#sender.ask('DELETE /api/developer/v1/members/{userId}', { path: { userId } }, options)
  }
}
