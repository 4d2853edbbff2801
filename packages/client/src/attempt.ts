import { ApiError, type FieldError } from './api-error.js'

/** The raw response, whatever its status. */
export interface Arrival {
  status: number
  headers: Headers
  text: string
}

export interface Attempt {
  fetch: typeof fetch
  url: string
  init: RequestInit
  timeoutMs: number
  signal: AbortSignal | undefined
}

/**
 * Sends a request once. The response is complete when its body has arrived.
 *
 * @throws ApiError with status 0 if there is no response in time, or the reason of the aborted signal
 */
export async function attempt({ fetch, url, init, timeoutMs, signal }: Attempt): Promise<Arrival> {
  signal?.throwIfAborted()
  // Not AbortSignal.any and .timeout: those hold on to a signal that outlives many requests.
  const ending = new AbortController()
  const abort = () => ending.abort(signal?.reason)
  signal?.addEventListener('abort', abort)
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    ending.abort()
  }, timeoutMs)
  try {
    const response = await fetch(url, { ...init, signal: ending.signal })
    return { status: response.status, headers: response.headers, text: await response.text() }
  } catch (cause) {
    signal?.throwIfAborted()
    const why = isLate ? `within ${timeoutMs} ms` : (cause as Error).message
    throw new ApiError(`No answer to ${init.method} ${url}: ${why}`, 0, { cause })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

/** The JSON body of a successful response. @throws ApiError for any other response */
export function readBody({ status, headers, text }: Arrival): unknown {
  const body = parse(text)
  if (status >= 200 && status < 300 && (text === '' || body !== undefined)) return body
  const { error, errors } = (body ?? {}) as { error?: string; errors?: FieldError[] }
  const faults = errors?.map(({ field, message }) => `${field}: ${message}`).join('; ')
  const requestId = headers.get('x-request-id')
  const retryAfterSeconds = readRetryAfter(headers)
  throw new ApiError(error ?? faults ?? `Answered ${status}, and not by the API`, status, {
    ...(errors === undefined ? {} : { errors }),
    ...(requestId === null ? {} : { requestId }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  })
}

/** A proxy between client and API may respond with anything. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Seconds, or a date. */
function readRetryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after')
  if (text === null) return undefined
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1_000
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds))
}
