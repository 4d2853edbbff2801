import type { Workspace, WorkspaceList, WorkspaceToCreate, WorkspaceToUpdate } from '../api.js'
import { Pages } from '../pages.js'
import type { RequestOptions, Sender } from '../send.js'

export class Workspaces {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Those of the user, oldest first; for an API key its own. */
  list(options?: RequestOptions): Pages<Workspace, WorkspaceList> {
    return new Pages(
      () => this.#sender.ask('GET /api/developer/v1/workspaces', {}, options),
      (list) => list.data,
    )
  }

  /** With its first admin, who is the caller unless somebody else is named. */
  create(workspace: WorkspaceToCreate, options?: RequestOptions) {
    return this.#sender.ask('POST /api/developer/v1/workspaces', { body: workspace }, options)
  }

  /** @param id that of the client's workspace: there is one client for each */
  get(id: string, options?: RequestOptions) {
    return this.#sender.ask('GET /api/developer/v1/workspaces/{id}', { path: { id } }, options)
  }

  /** @param changes any subset of the fields */
  update(id: string, changes: WorkspaceToUpdate, options?: RequestOptions) {
    return this.#sender.ask(
      'PATCH /api/developer/v1/workspaces/{id}',
      { path: { id }, body: changes },
      options,
    )
  }
}
