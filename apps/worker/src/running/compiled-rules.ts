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

/** A rule at hand takes about 5 KB. */
const maxRules = 200_000
/** Then a set is read again, if only to be written down as still in use. */
const maxAgeMs = 60 * 60 * 1_000

/**
 * The active rules of an event's workspace and type, compiled once for each version.
 *
 * Nobody tells this cache that a rule has changed, and nobody needs to: each event comes with its workspace's
 * version, read as it was taken up, and a rule change counts that up in its own transaction. What is read here is
 * read after, so it is never older than the version it is kept under.
 */
export function createCompiledRules(database: Database) {
  const entries = new LRUCache<string, Entry>({ maxSize: maxRules })

  return (event: LoadedEvent): Promise<RuleSet> => {
    const key = `${event.workspaceId} ${event.type}`
    const known = entries.get(key)
    const now = Date.now()
    if (known && known.rulesVersion >= event.rulesVersion && now - known.readAt < maxAgeMs) return known.set
    const set = (known?.set ?? Promise.resolve(noRules))
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
