import type { Workspace, WorkspaceList, WorkspaceToCreate, WorkspaceToUpdate } from '../api.js'
import { type IfTag, matchingTag } from '../if-version.js'
import type { Pages } from '../pages.js'
import type { KeyedOptions, RequestOptions, Sender } from '../send.js'

export class Workspaces {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** The workspaces of the user, oldest first. An API key lists its own workspace. */
  list(options?: RequestOptions): Pages<Workspace, WorkspaceList> {
    return this.#sender.list('GET /api/developer/v1/workspaces', 'data', { query: {} }, options)
  }

  /** Creates a workspace with its first admin: the caller, unless `adminUserId` names another user. */
  create(workspace: WorkspaceToCreate, options?: KeyedOptions) {
    return this.#sender.ask('POST /api/developer/v1/workspaces', { body: workspace }, options)
  }

  /** @param id the client's workspace, since each client belongs to one workspace */
  get(id: string, options?: RequestOptions) {
    return this.#sender.ask('GET /api/developer/v1/workspaces/{id}', { path: { id } }, options)
  }

  /** @param changes any subset of the fields */
  update(id: string, changes: WorkspaceToUpdate, options: RequestOptions & IfTag = {}) {
    return this.#sender.ask(
      'PATCH /api/developer/v1/workspaces/{id}',
      { path: { id }, body: changes },
      matchingTag(options),
    )
  }

  /** Suspends a workspace: nothing of it runs until it is resumed. For admins who are people, as the next three. */
  suspend(id: string, options: RequestOptions & IfTag = {}) {
    return this.#sender.ask(
      'PUT /api/developer/v1/workspaces/{id}/suspension',
      { path: { id } },
      matchingTag(options),
    )
  }

  resume(id: string, options: RequestOptions & IfTag = {}) {
    return this.#sender.ask(
      'DELETE /api/developer/v1/workspaces/{id}/suspension',
      { path: { id } },
      matchingTag(options),
    )
  }

  /** Asks for its deletion, which begins 7 days later. @param name of the workspace, typed again */
  delete(id: string, name: string, options: RequestOptions & IfTag = {}) {
    return this.#sender.ask(
      'PUT /api/developer/v1/workspaces/{id}/deletion',
      { path: { id }, body: { name } },
      matchingTag(options),
    )
  }

  /** Undoes a deletion that has not begun. */
  keep(id: string, options: RequestOptions & IfTag = {}) {
    return this.#sender.ask(
      'DELETE /api/developer/v1/workspaces/{id}/deletion',
      { path: { id } },
      matchingTag(options),
    )
  }
}
