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

interface Judged {
  method: string
  /** Whether it has an Idempotency-Key. */
  isKeyed: boolean
  /** Whether a repetition has no further effect. */
  isRepeatable: boolean
  retries: number
  /** How long to repeat the request while the outcome is not there yet. */
  timeoutMs: number
}

/**
 * Judges the failures of one request, one after the other. Returns the delay (ms) before the next attempt, or undefined
 * if the failure means that the request was done.
 *
 * @throws the error for the caller, if a repeat is not allowed or would not help
 */
export function createJudge({ method, isKeyed, isRepeatable, retries, timeoutMs }: Judged) {
  /** The first failure with an unknown outcome. */
  let doubt: ApiError | undefined
  let failures = 0
  let stillRunningUntil = 0

  return (error: ApiError): number | undefined => {
    // An earlier attempt may have deleted the row, or changed its version.
    if (doubt !== undefined && method === 'DELETE' && error.status === 404) return undefined
    if (doubt !== undefined && error.status === 412) throw doubt
    if (mayHaveHappened(error)) doubt ??= error

    if (isKeyed && isStillRunning(error)) {
      // The first request with this key is still running. Waiting for it uses up time, and no attempts.
      stillRunningUntil ||= Date.now() + timeoutMs
      if (Date.now() > stillRunningUntil) throw error
      return (error.retryAfterSeconds ?? 1) * 1_000
    }
    failures++
    const isPassing = error.status === tooManyRequests || uncertain.has(error.status)
    const isSafe = isRepeatable || !mayHaveHappened(error)
    const isPatient = (error.retryAfterSeconds ?? 0) <= longestRetryAfterSeconds
    if (!isPassing || !isSafe || !isPatient || failures > retries) throw error
    return (error.retryAfterSeconds ?? 0) * 1_000 + backOff(failures)
  }
}

/** Whether the request may have been done despite this failure. */
function mayHaveHappened({ status, cause }: ApiError): boolean {
  if (status !== 0) return uncertain.has(status) || status === 500
  const { code } = ((cause as Error).cause ?? {}) as { code?: string }
  return code === undefined || !notConnected.has(code)
}

/** Another request with the same key is running: the only 409 with a Retry-After. */
function isStillRunning({ status, retryAfterSeconds }: ApiError): boolean {
  return status === 409 && retryAfterSeconds !== undefined
}

/** A delay (ms) with jitter: requests that failed together must not be repeated together. */
export function backOff(failures: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2)
}
