import { setTimeout } from 'node:timers/promises'

/**
 * A figure that has to be asked for, kept for a while: scrapes of many watchers cost one question. Where the answer does not
 * come, it is `unknown`, and soon, since whoever is away is just what a scrape should tell.
 */
export function createReading<Value>(
  ask: () => Promise<Value>,
  { keepMs, giveUpMs, unknown }: { keepMs: number; giveUpMs: number; unknown: Value },
  now: () => number = () => performance.now(),
): () => Promise<Value> {
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<Value> = Promise.resolve(unknown)

  return () => {
    if (now() - readAt < keepMs) return reading
    readAt = now()
    reading = withinTime()
    return reading
  }

  async function withinTime(): Promise<Value> {
    const enough = new AbortController()
    try {
      const late = setTimeout(giveUpMs, unknown, { signal: enough.signal, ref: false })
      return await Promise.race([ask(), late])
    } catch {
      return unknown
    } finally {
      enough.abort()
    }
  }
}
