import type { AuditEntry, AuditLogPage } from '../api.js'
import type { Inputs } from '../operation.js'
import type { Pages } from '../pages.js'
import type { RequestOptions, Sender } from '../send.js'

type AuditQuery = NonNullable<Inputs<'GET /api/developer/v1/audit-log'>['query']>

export class AuditLog {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** The changes in the workspace and their actors, newest first. */
  list(query: AuditQuery = {}, options?: RequestOptions): Pages<AuditEntry, AuditLogPage> {
    return this.#sender.list('GET /api/developer/v1/audit-log', 'data', { query }, options)
  }
}
