/** What is wrong with one field of a request: `actions[1].config.to`, `Required`. */
export interface FieldError {
  field: string
  message: string
}

/** An error response of the API, or no response at all. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError'
  /** Status of the response. 0 if there was no response. */
  readonly status: number
  /** With 422: all faults of the request. */
  readonly errors: FieldError[] | undefined
  /** Id under which the operator finds the request in the logs. */
  readonly requestId: string | undefined
  /** Seconds after which the API accepts the request again. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    message: string,
    status: number,
    more: {
      errors?: FieldError[] | undefined
      requestId?: string | undefined
      retryAfterSeconds?: number | undefined
      cause?: unknown
    } = {},
  ) {
    super(message, more.cause === undefined ? {} : { cause: more.cause })
    this.status = status
    this.errors = more.errors
    this.requestId = more.requestId
    this.retryAfterSeconds = more.retryAfterSeconds
  }
}
