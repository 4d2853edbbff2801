import type { ApiError } from './api-error.js'

const firstPauseMs = 200
const longestPauseMs = 10_000
/** A response that asks for a longer pause than this is passed on to the caller. */
const longestRetryAfterSeconds = 120

/** Says no for the moment, and surely did nothing. */
const tooManyRequests = 429
/** From something between us and the API, or from an API that may have done it: nobody knows. */
const uncertain = new Set([0, 502, 503, 504])

/** What never became a connection: the API has not seen the request. */
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
  /** Whether it carries an Idempotency-Key. */
  isKeyed: boolean
  /** Whether it changes nothing when it is done twice. */
  isRepeatable: boolean
  retries: number
  /** For how long to ask for an outcome that is not there yet. */
  timeoutMs: number
}

/**
 * Judges the failures of one request, one after the other: after how long (ms) to send it again; undefined where the
 * failure says that it is done.
 *
 * @throws the error for the caller, if a repeat is not allowed or would not help
 */
export function createJudge({ method, isKeyed, isRepeatable, retries, timeoutMs }: Judged) {
  /** The first failure after which nobody knew whether it had been done. */
  let doubt: ApiError | undefined
  let failures = 0
  let stillRunningUntil = 0

  return (error: ApiError): number | undefined => {
    // What an earlier attempt has deleted is gone; what it has changed has another version.
    if (doubt !== undefined && method === 'DELETE' && error.status === 404) return undefined
    if (doubt !== undefined && error.status === 412) throw doubt
    if (mayHaveHappened(error)) doubt ??= error

    if (isKeyed && isStillRunning(error)) {
      // Its twin waits for the worker. That costs patience, and no attempts.
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

/** Whether the request may have been done although it failed so. */
function mayHaveHappened({ status, cause }: ApiError): boolean {
  if (status !== 0) return uncertain.has(status) || status === 500
  const { code } = ((cause as Error).cause ?? {}) as { code?: string }
  return code === undefined || !notConnected.has(code)
}

/** Another request with the same key is under way: the only 409 that says when to ask again. */
function isStillRunning({ status, retryAfterSeconds }: ApiError): boolean {
  return status === 409 && retryAfterSeconds !== undefined
}

/** With some chance in it (ms): those who failed together are not to come back together. */
export function backOff(failures: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2)
}
