import { findSubscription, subscriptionRetry } from '@automation/administration'
import type { Database } from '@automation/database'
import { type CompiledRule, compileRule, isServiceEvent, type RuleDefinition } from '@automation/engine'
import { LRUCache } from 'lru-cache'
import type { LoadedEvent } from './load-events.js'

/** A rule ready to run. `compiled` is the fault's text where a definition that was saved once no longer compiles. */
export interface ReadyRule {
  id: string
  name: string
  version: number
  compiled: CompiledRule | { fault: string }
}

interface Entry {
  rulesVersion: number
  rules: Promise<ReadyRule[]>
}

const maxEntries = 20_000

/**
 * The active rules of an event's workspace and type, in creation order, compiled once for each version.
 *
 * Nobody tells this cache that a rule has changed, and nobody needs to: each event comes with its workspace's
 * version, read as it was taken up, and a rule change counts that up in its own transaction. What is read here is
 * read after, so it is never older than the version it is kept under.
 */
export function createCompiledRules(database: Database) {
  const entries = new LRUCache<string, Entry>({ max: maxEntries })

  return (event: LoadedEvent): Promise<ReadyRule[]> => {
    const key = `${event.workspaceId} ${event.type}`
    const known = entries.get(key)
    if (known && known.rulesVersion >= event.rulesVersion) return known.rules
    const entry = { rulesVersion: event.rulesVersion, rules: readActiveRules(database, event) }
    entries.set(key, entry)
    entry.rules.catch(() => {
      if (entries.peek(key) === entry) entries.delete(key)
    })
    return entry.rules
  }
}

async function readActiveRules(database: Database, { workspaceId, type }: LoadedEvent): Promise<ReadyRule[]> {
  const rules = await database.forWorkspace(workspaceId).rule.findMany({
    where: { trigger: type, isActive: true },
    select: { id: true, name: true, version: true, conditions: true, actions: true },
    orderBy: { id: 'asc' },
  })
  return rules.map(makeReady)
}

/**
 * The one that an event is addressed to, as it stands now: a rule that was asked for by hand, active or not, or an active
 * subscription; none where it was deleted.
 */
export async function findAddressee(
  database: Database,
  { workspaceId, type }: LoadedEvent,
  id: string,
): Promise<ReadyRule[]> {
  const own = database.forWorkspace(workspaceId)
  if (isServiceEvent(type)) {
    const subscription = await findSubscription(database, workspaceId, id)
    return subscription?.isActive ? [makeReadySubscription(subscription)] : []
  }
  const rule = await own.rule.findUnique({
    where: { id },
    select: { id: true, name: true, version: true, conditions: true, actions: true },
  })
  return rule === null ? [] : [makeReady(rule)]
}

/** A subscription is told by what a rule would do: one call, tried again for a day or so. */
function makeReadySubscription({ id, url }: { id: string; url: string }): ReadyRule {
  const call = { type: 'SEND_WEBHOOK' as const, config: { url }, retry: subscriptionRetry }
  return { id, name: 'Subscription', version: 1, compiled: compileRule({ conditions: [], actions: [call] }) }
}

export function makeReady(rule: {
  id: string
  name: string
  version: number
  conditions: unknown
  actions: unknown
}): ReadyRule {
  const { id, name, version } = rule
  try {
    return { id, name, version, compiled: compileRule(rule as unknown as RuleDefinition) }
  } catch (error) {
    // One rule that cannot run must not keep the workspace's others from running: it fails by itself.
    return {
      id,
      name,
      version,
      compiled: { fault: `The rule does not compile: ${(error as Error).message}` },
    }
  }
}
