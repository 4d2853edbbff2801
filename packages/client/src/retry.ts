import type { ApiError } from './api-error.js'

const firstPauseMs = 200
const longestPauseMs = 10_000
/** A response that asks for a longer pause than this is passed on to the caller. */
const longestRetryAfterSeconds = 120

/** A temporary refusal: the request certainly had no effect. */
const tooManyRequests = 429
/** From a proxy, or from an API that may have done it: the outcome is unknown. */
const uncertain = new Set([0, 502, 503, 504])

/** Errors before there was a connection: the API has not seen the request. */
const notConnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

interface RetryOptions {
  method: string
  /** Whether it has an Idempotency-Key. */
  isKeyed: boolean
  /** Whether a repetition has no further effect. */
  isRepeatable: boolean
  retries: number
  /** How long to repeat the request while the outcome is not there yet. */
  timeoutMs: number
}

/** Decides about the failures of one request, one after the other. */
export class RetryPolicy {
  readonly #options: RetryOptions
  /** The first failure with an unknown outcome. */
  #doubt: ApiError | undefined
  #failures = 0
  /** When to stop waiting for the first request with the same key. */
  #runningUntil: number | undefined

  constructor(options: RetryOptions) {
    this.#options = options
  }

  /**
   * Returns the delay (ms) before the next attempt, or undefined if the failure means that the request was done.
   *
   * @throws the error for the caller, if a repeat is not allowed or would not help
   */
  nextDelay(error: ApiError): number | undefined {
    const { method, isKeyed, isRepeatable, retries } = this.#options
    // An earlier attempt may have deleted the row, or changed its version.
    if (this.#doubt !== undefined && method === 'DELETE' && error.status === 404) return undefined
    if (this.#doubt !== undefined && error.status === 412) throw this.#doubt
    if (mayHaveHappened(error)) this.#doubt ??= error

    const retryAfterSeconds = error.retryAfterSeconds ?? 0
    if (retryAfterSeconds > longestRetryAfterSeconds) throw error
    if (isKeyed && isStillRunning(error)) return this.#msUntilNextLook(error, retryAfterSeconds)
    this.#failures++
    const isPassing = error.status === tooManyRequests || uncertain.has(error.status)
    const isSafe = isRepeatable || !mayHaveHappened(error)
    if (!isPassing || !isSafe || this.#failures > retries) throw error
    return delayAfter(this.#failures, retryAfterSeconds)
  }

  /** The first request with this key is still running. Waiting for it uses up time, and no attempts. */
  #msUntilNextLook(error: ApiError, retryAfterSeconds: number): number {
    const now = performance.now()
    this.#runningUntil ??= now + this.#options.timeoutMs
    // Never at once: a proxy may send Retry-After: 0.
    const waitMs = Math.max(retryAfterSeconds * 1_000, backOff(1))
    if (now + waitMs > this.#runningUntil) throw error
    return waitMs
  }
}

/** Whether the request may have been done despite this failure. */
function mayHaveHappened({ status, cause }: ApiError): boolean {
  if (status !== 0) return uncertain.has(status)
  const { code } = ((cause as Partial<Error> | undefined)?.cause ?? {}) as { code?: string }
  return code === undefined || !notConnected.has(code)
}

/** Another request with the same key is running: the only 409 with a Retry-After. */
function isStillRunning({ status, retryAfterSeconds }: ApiError): boolean {
  return status === 409 && retryAfterSeconds !== undefined
}

/** Callers that were refused together get the same Retry-After: their delays spread over a time as long as that. */
function delayAfter(failures: number, retryAfterSeconds: number): number {
  const retryAfterMs = retryAfterSeconds * 1_000
  const spreadMs = Math.min(longestPauseMs, retryAfterMs * 2 ** (failures - 1)) * Math.random()
  return retryAfterMs + Math.max(spreadMs, backOff(failures))
}

/** A delay (ms) with jitter: requests that failed together must not be repeated together. */
export function backOff(failures: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2)
}
