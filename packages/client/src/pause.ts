import { longestTimerMs } from './within.js'

/** Sleeps. @throws the signal's reason as soon as it is aborted */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(wake, Math.min(ms, longestTimerMs))
    signal?.addEventListener('abort', wake)
    function wake() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', wake)
      if (signal?.aborted) reject(signal.reason)
      else resolve()
    }
  })
}
