import type { Receipt, ReceiptPage } from '../api.js'
import type { Inputs } from '../operation.js'
import type { Pages } from '../pages.js'
import type { RequestOptions, Sender } from '../send.js'

type ReceiptQuery = NonNullable<Inputs<'GET /api/developer/v1/webhook-receipts'>['query']>

/** The receipts of incoming webhooks. */
export class Receipts {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Accepted webhooks, or rejected ones with `state: 'rejected'`, newest first. */
  list(query: ReceiptQuery = {}, options?: RequestOptions): Pages<Receipt, ReceiptPage> {
    return this.#sender.list('GET /api/developer/v1/webhook-receipts', 'data', { query }, options)
  }

  get(id: string, options?: RequestOptions) {
    return this.#sender.ask('GET /api/developer/v1/webhook-receipts/{id}', { path: { id } }, options)
  }
}
