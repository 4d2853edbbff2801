import { postgresNow } from '@automation/database'
import { LRUCache } from 'lru-cache'

const roundingMs = 60_000

/**
 * Creates a function that records the use of a key or secret: at once, and then at most once a minute and process. Otherwise a busy
 * key would cause a write for every request. No request waits for the write; where it fails, the next use writes again.
 */
export function createUseNotes(write: (id: string, usedAt: Date) => Promise<unknown>): (id: string) => void {
  const noted = new LRUCache<string, true>({ max: 10_000, ttl: roundingMs })
  return (id) => {
    if (noted.has(id)) return
    noted.set(id, true)
    write(id, new Date(postgresNow())).catch(() => noted.delete(id))
  }
}
