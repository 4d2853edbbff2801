import type { BatchEvent, BatchEventToPost, BatchResult } from './api.js'
import { ApiError } from './api-error.js'

/** The result of one event of a batch, with the key under which it was posted. */
export type KeyedBatchResult = BatchResult & { idempotencyKey: string }

/** What became of the events of a batch. */
export interface BatchReport<Event = BatchEvent | BatchEventToPost> {
  /** Number of accepted events. */
  accepted: number
  /** One result for each event, in the order of the events. `failed`: it is unknown whether the event was accepted, or it was not sent. */
  results: KeyedBatchResult[]
  /** The failed events with their keys. If they are posted again, they are accepted once, even if they were accepted before. */
  remaining: (Event & { idempotencyKey: string })[]
}

/** A batch ended early. `cause` is the ApiError of the request that failed, or the reason of the aborted signal. */
export class BatchError<Event = BatchEvent | BatchEventToPost>
  extends ApiError
  implements BatchReport<Event>
{
  override readonly name = 'BatchError'
  readonly accepted: number
  readonly results: KeyedBatchResult[]
  readonly remaining: (Event & { idempotencyKey: string })[]

  constructor(cause: unknown, { accepted, results, remaining }: BatchReport<Event>) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const {
      status = 0,
      code,
      hint,
      errors,
      requestId,
      retryAfterSeconds,
    }: Partial<ApiError> = cause instanceof ApiError ? cause : {}
    const more = { code, hint, errors, requestId, retryAfterSeconds, cause }
    super(`${why} (${accepted} of ${results.length} events are accepted)`, status, more)
    this.accepted = accepted
    this.results = results
    this.remaining = remaining
  }
}
