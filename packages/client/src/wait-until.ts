import { ApiError } from './api-error.js'
import { pause } from './pause.js'
import { checkTimeout, within } from './within.js'

export interface WaitOptions {
  signal?: AbortSignal | undefined
  /** Limit of the whole call, including its requests and their retries. Default: a minute. Infinity: none. */
  timeoutMs?: number | undefined
}

/** Each look consumes a token of the bucket. */
const firstPauseMs = 100
const longestPauseMs = 5_000

/** Looks repeatedly, less and less often. @throws ApiError with status 0 after the timeout */
export async function waitUntil<Value>(
  look: (options: { signal: AbortSignal | undefined }) => Promise<Value>,
  isEnd: (value: Value) => boolean,
  { signal, timeoutMs = 60_000 }: WaitOptions = {},
): Promise<Value> {
  checkTimeout(timeoutMs)
  const late = () => new ApiError(`Not done within ${timeoutMs} ms`, 0)
  return within({ timeoutMs, signal, late }, async (ending) => {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
      const value = await look({ signal: ending })
      if (isEnd(value)) return value
      await pause(pauseMs, ending)
    }
  })
}
