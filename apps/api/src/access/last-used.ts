import { LRUCache } from 'lru-cache'

const roundingMs = 60_000

/**
 * Notes that a key or secret was used: at once, and then once a minute and process, or a busy one would be written
 * with every request. Nobody waits for it, and one that could not be noted is noted next time.
 */
export function createUseNotes(write: (id: string, usedAt: Date) => Promise<unknown>): (id: string) => void {
  const noted = new LRUCache<string, true>({ max: 10_000, ttl: roundingMs })
  return (id) => {
    if (noted.has(id)) return
    noted.set(id, true)
    write(id, new Date()).catch(() => noted.delete(id))
  }
}
