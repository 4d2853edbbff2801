import { ApiError } from './api-error.js'
import { pause } from './pause.js'

export interface WaitOptions {
  signal?: AbortSignal | undefined
  /** Default: a minute. */
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
  const until = Date.now() + timeoutMs
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
    const value = await look({ signal })
    if (isEnd(value)) return value
    const leftMs = until - Date.now()
    if (leftMs <= 0) throw new ApiError(`Not done within ${timeoutMs} ms`, 0)
    await pause(Math.min(pauseMs, leftMs), signal)
  }
}
