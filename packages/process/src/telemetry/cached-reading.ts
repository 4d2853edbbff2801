import { setTimeout } from 'node:timers/promises'
import { createSharedReading } from './shared-reading.js'

/**
 * Caches a value for a while, so that scrapes by several Prometheus servers cost one query. If the query fails or does
 * not finish before the timeout, the value is `unknown`: a scrape must not wait long for a server that is away, because
 * that is just what it should report.
 */
export function createCachedReading<Value>(
  query: () => Promise<Value>,
  { keepMs, timeoutMs, unknown }: { keepMs: number; timeoutMs: number; unknown: Value },
  now?: () => number,
): () => Promise<Value> {
  return createSharedReading(readWithTimeout, keepMs, now)

  async function readWithTimeout(): Promise<Value> {
    const timer = new AbortController()
    try {
      const timeout = setTimeout(timeoutMs, unknown, { signal: timer.signal, ref: false })
      return await Promise.race([query(), timeout])
    } catch {
      return unknown
    } finally {
      timer.abort()
    }
  }
}
