import { ApiError } from './api-error.js'
import { within } from './within.js'

/** The raw response, whatever its status. */
export interface RawResponse {
  status: number
  headers: Headers
  text: string
}

export interface RequestToSend {
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
export async function attempt({ fetch, url, init, timeoutMs, signal }: RequestToSend): Promise<RawResponse> {
  const noAnswer = (why: string, cause?: unknown) =>
    new ApiError(`No answer to ${init.method} ${url}: ${why}`, 0, { cause })
  const late = () => noAnswer(`within ${timeoutMs} ms`)
  return within({ timeoutMs, signal, late }, async (ending) => {
    try {
      const response = await fetch(url, { ...init, signal: ending })
      return { status: statusOf(response), headers: response.headers, text: await response.text() }
    } catch (cause) {
      throw noAnswer(describeCause(cause), cause)
    }
  })
}

/** `fetch failed` alone says nothing: Node has the reason in the cause, and for a host of several addresses one for each. */
function describeCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  const [first] = (cause as Partial<AggregateError>).errors ?? []
  const reason = cause.message || (first instanceof Error ? first.message : (cause as { code?: string }).code)
  return reason ? `${error.message}, ${reason}` : error.message
}

/** Browsers hide a redirect: its status is 0. Any redirect is an error here, so it is given the status of the usual one. */
function statusOf({ type, status }: Response): number {
  return type === 'opaqueredirect' ? 302 : status
}
