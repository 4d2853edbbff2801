import type { ErrorCode } from './api.js'

/** What is wrong with one field of a request: `actions[1].config.to`, `Required`. */
export interface FieldError {
  field: string
  message: string
}

/** What an ApiError says beside its message and status. */
interface Details {
  code?: string | undefined
  hint?: string | undefined
  errors?: FieldError[] | undefined
  requestId?: string | undefined
  retryAfterSeconds?: number | undefined
  cause?: unknown
}

/** An error response of the API, or no response at all. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError'
  /** Status of the response. 0 if there was no response. */
  readonly status: number
  /**
   * The reason in one word, such as `rule_not_found`: compare this, and not the message. undefined if the response is not one of the API.
   * Later versions of the API may send codes that are not in the type: treat an unknown one by its status.
   */
  readonly code: ErrorCode | undefined
  /** What the API says in a header, such as the missing role or the event type that was perhaps meant. The message ends with it. */
  readonly hint: string | undefined
  /** With 422: all errors of the request. */
  readonly errors: FieldError[] | undefined
  /** Id under which the operator finds the request in the logs. */
  readonly requestId: string | undefined
  /** Seconds after which the API accepts the request again. */
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, status: number, more: Details = {}) {
    super(message, more.cause === undefined ? {} : { cause: more.cause })
    this.status = status
    this.code = more.code
    this.hint = more.hint
    this.errors = more.errors
    this.requestId = more.requestId
    this.retryAfterSeconds = more.retryAfterSeconds
  }
}
