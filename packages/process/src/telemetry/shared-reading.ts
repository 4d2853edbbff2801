/**
 * Shares one reading among all who ask: while it is under way, and for a while after it has ended. However many ask, there is one
 * at a time.
 */
export function createSharedReading<Value>(
  read: () => Promise<Value>,
  keepMs: number,
  now: () => number = () => performance.now(),
): () => Promise<Value> {
  let reading: Promise<Value> | undefined
  /** undefined while it is under way. */
  let readAt: number | undefined

  return () => {
    if (reading && (readAt === undefined || now() - readAt < keepMs)) return reading
    readAt = undefined
    reading = read().finally(() => {
      readAt = now()
    })
    return reading
  }
}
