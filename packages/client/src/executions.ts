import type {
  ExecutionPage,
  ExecutionSummary,
  ExecutionsCancelled,
  ExecutionsRetried,
  ExecutionsToCancel,
  ExecutionsToRetry,
  Matched,
} from './api.js'
import type { Inputs } from './operation.js'
import type { Pages } from './pages.js'
import type { KeyedOptions, RequestOptions, Sender } from './send.js'
import { type WaitOptions, waitUntil } from './wait-until.js'

type ExecutionQuery = NonNullable<Inputs<'GET /api/executions'>['query']>

const finished = new Set(['succeeded', 'failed', 'cancelled', 'suppressed', 'not_matched'])

export class Executions {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Newest event first. */
  list(query: ExecutionQuery = {}, options?: RequestOptions): Pages<ExecutionSummary, ExecutionPage> {
    return this.#sender.list('GET /api/executions', 'executions', { query }, options)
  }

  /** The execution with its progress and the result of each action. `explain` adds each clause of the rule and its verdict. */
  get(id: string, { explain, ...options }: RequestOptions & { explain?: boolean } = {}) {
    const query = explain === undefined ? {} : { explain }
    return this.#sender.ask('GET /api/executions/{id}', { path: { id }, query }, options)
  }

  /** Waits until the execution is finished, including its WAITs and retries. */
  waitUntilDone(id: string, options?: WaitOptions) {
    return waitUntil(
      (signal) => this.get(id, signal),
      ({ status }) => finished.has(status),
      options,
    )
  }

  /** Retries a failed or cancelled execution from its first unfinished action. */
  retry(id: string, options: KeyedOptions & { version?: 'same' | 'latest' } = {}) {
    const { version, ...rest } = options
    const body = version === undefined ? {} : { version }
    return this.#sender.ask('POST /api/executions/{id}/retry', { path: { id }, body }, rest)
  }

  /** Retries the executions that match a filter, oldest first, at most 1000 per call. Only counts them unless `dryRun` is false. */
  retryMany(body: ExecutionsToRetry, options?: KeyedOptions): Promise<Matched | ExecutionsRetried> {
    return this.#sender.ask('POST /api/executions/retry', { body }, options)
  }

  /** Acknowledges a failed execution, and all that failed before it with the same rule and error. */
  acknowledge(id: string, options?: RequestOptions) {
    return this.#sender.ask('PUT /api/executions/{id}/acknowledgement', { path: { id } }, options)
  }

  /** Takes back what was acknowledged of the rule and the error of an execution. */
  async unacknowledge(id: string, options?: RequestOptions): Promise<void> {
    await this.#sender.ask('DELETE /api/executions/{id}/acknowledgement', { path: { id } }, options)
  }

  /** Cancels an execution that has not ended. `running` says that an attempt is in progress: it is recorded, and nothing begins after it. */
  cancel(id: string, options?: KeyedOptions) {
    return this.#sender.ask('POST /api/executions/{id}/cancel', { path: { id } }, options)
  }

  /** Cancels the executions that wait or retry and match a filter, oldest first, at most 1000 per call. Only counts them unless `dryRun` is false. */
  cancelMany(body: ExecutionsToCancel, options?: KeyedOptions): Promise<Matched | ExecutionsCancelled> {
    return this.#sender.ask('POST /api/executions/cancel', { body }, options)
  }
}
