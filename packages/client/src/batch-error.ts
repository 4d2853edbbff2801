import type { BatchEvent, BatchResult } from './api.js'
import { ApiError } from './api-error.js'

/** The result of one event of a batch, with the key under which it was posted. */
export type KeyedBatchResult = BatchResult & { idempotencyKey: string }

/** What became of the events of a batch. */
export interface BatchReport {
  /** Number of accepted events. */
  accepted: number
  /** One result for each event, in the order of the events. `failed`: it is unknown whether the event was accepted, or it was not sent. */
  results: KeyedBatchResult[]
  /** The failed events with their keys. `triggerBatch` accepts them once, even if they were accepted before. */
  remaining: Required<BatchEvent>[]
}

/** A batch ended early. `cause` is the ApiError of the request that failed, or the reason of the aborted signal. */
export class BatchError extends ApiError implements BatchReport {
  override readonly name = 'BatchError'
  readonly accepted: number
  readonly results: KeyedBatchResult[]
  readonly remaining: Required<BatchEvent>[]

  constructor(cause: unknown, { accepted, results, remaining }: BatchReport) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const {
      status = 0,
      errors,
      requestId,
      retryAfterSeconds,
    }: Partial<ApiError> = cause instanceof ApiError ? cause : {}
    const more = { errors, requestId, retryAfterSeconds, cause }
    super(`${why} (${accepted} of ${results.length} events are accepted)`, status, more)
    this.accepted = accepted
    this.results = results
    this.remaining = remaining
  }
}
