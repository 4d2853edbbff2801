/** What is wrong with one field of a request: `actions[1].config.to`, `Required`. */
export interface FieldError {
  field: string
  message: string
}

/** The API has said no, or nobody has answered. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** Of the answer; 0 where there was none. */
  readonly status: number
  /** With 422: all that is wrong with the request. */
  readonly errors: FieldError[] | undefined
  /** What the operator finds the request by in the logs. */
  readonly requestId: string | undefined
  /** After which the API would like to be asked again. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    message: string,
    status: number,
    more: { errors?: FieldError[]; requestId?: string; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? {} : { cause: more.cause })
    this.status = status
    this.errors = more.errors
    this.requestId = more.requestId
    this.retryAfterSeconds = more.retryAfterSeconds
  }
}
