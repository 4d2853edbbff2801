import type { Database } from '@automation/database'
import type { LoadedEvent } from '@automation/ledger'
import { LRUCache } from 'lru-cache'
import { noRules, type RuleSet, readRuleSet } from './rule-set.js'

interface Entry {
  rulesVersion: number
  /** Epoch ms. */
  readAt: number
  set: Promise<RuleSet>
}

/** A compiled rule takes about 5 KB. */
const maxRules = 200_000
/** A set of this age is read again, be it only to record that it is still in use. */
const maxAgeMs = 60 * 60 * 1_000

/**
 * Creates a cache of the active rules of an event's workspace and type, compiled once for each version.
 *
 * The cache needs no invalidation. Each event carries the rules version of its workspace, read when the event was loaded, and a
 * rule change increments that version in its own transaction. The cache reads rules after that, so a cached set is never older than
 * its version.
 */
export function createCompiledRules(database: Database) {
  const entries = new LRUCache<string, Entry>({ maxSize: maxRules })

  return (event: LoadedEvent): Promise<RuleSet> => {
    const key = `${event.workspaceId} ${event.type}`
    const cached = entries.get(key)
    const now = Date.now()
    if (cached && cached.rulesVersion >= event.rulesVersion && now - cached.readAt < maxAgeMs)
      return cached.set
    const set = (cached?.set ?? Promise.resolve(noRules))
      .catch(() => noRules)
      .then((earlier) => readRuleSet(database, event, earlier))
    const entry = { rulesVersion: event.rulesVersion, readAt: now, set }
    entries.set(key, entry, { size: 1 })
    set.then(
      ({ rules }) => {
        if (entries.peek(key) === entry)
          entries.set(key, entry, { size: Math.min(1 + rules.length, maxRules) })
      },
      () => {
        if (entries.peek(key) === entry) entries.delete(key)
      },
    )
    return set
  }
}
