import { getHeapStatistics } from 'node:v8'
import { yieldEvery } from '@automation/admission'
import { type Database, ruleSetIdOf } from '@automation/database'
import { hasGroups, indexRules, type RuleIndex } from '@automation/engine'
import type { LoadedEvent } from '@automation/ledger'
import { LRUCache } from 'lru-cache'
import { makeReady, type ReadyRule } from '../executions/ready-rule.js'
import { readWaited } from './read-waited.js'

/** The rules that are evaluated for an event, in creation order. */
export interface RuleSet {
  /** Recorded with the event; null where there are no rules. */
  id: string | null
  rules: readonly ReadyRule[]
  /** Of the workspace, when the rules were exactly these. */
  rulesVersion: number
  /** What WAITs of the workspace match of events of this type: sets of paths. */
  waited: readonly (readonly string[])[]
  /** Whether one of them is in a group. */
  hasGroups: boolean
  /** The indexes of the rules that could match; all others do not. */
  findCandidates: RuleIndex['findCandidates']
}

export const noRules: RuleSet = {
  id: null,
  rules: [],
  rulesVersion: 0,
  waited: [],
  hasGroups: false,
  findCandidates: () => [],
}

/** Of the heap, for all sets together. */
const share = 1 / 5
/** Of that, a larger set has its place among the large ones: it must not evict those of all others. */
const largeShare = 1 / 16
/** What a set takes without its rules. */
const emptySetBytes = 500
/** A set of this age is read again, be it only to record that it is still in use. */
const maxAgeMs = 60 * 60 * 1_000

const always = { conditions: [] }
const onlyIndex = [0]
/** To compile a thousand rules may take seconds: others have the event loop after so many ms. */
const sliceMs = 10

interface Entry {
  generation: string
  rulesVersion: number
  /** Epoch ms. */
  readAt: number
  set: Promise<RuleSet>
}

/**
 * Creates a cache of the active rules of an event's workspace and type, compiled once for each version.
 *
 * The cache needs no invalidation. Each event carries the rules version of its workspace, read when the event was loaded, and a
 * rule change increments that version in its own transaction. The cache reads rules after that, so a cached set is never older than
 * its version. Only a failover of Postgres may take versions back, and give their numbers to others.
 *
 * @param maxBytes what all sets may take together in memory: half of it the large ones, of which one that takes more is cached alone
 */
export function createCompiledRules(
  database: Database,
  maxBytes = Math.floor(getHeapStatistics().heap_size_limit * share),
) {
  const half = Math.ceil(maxBytes / 2)
  const entries = new LRUCache<string, Entry>({ maxSize: half })
  const large = new LRUCache<string, Entry>({ maxSize: half })

  return (event: LoadedEvent): Promise<RuleSet> => {
    const key = `${event.workspaceId} ${event.type}`
    const cached = entries.get(key) ?? large.get(key)
    const now = Date.now()
    const generation = database.generation()
    const isOfNow = cached?.generation === generation
    if (cached && isOfNow && cached.rulesVersion >= event.rulesVersion && now - cached.readAt < maxAgeMs)
      return cached.set
    const set = ((isOfNow && cached?.set) || Promise.resolve(noRules))
      .catch(() => noRules)
      .then((earlier) => readRuleSet(database, event, earlier))
    const entry = { generation, rulesVersion: event.rulesVersion, readAt: now, set }
    entries.set(key, entry, { size: emptySetBytes })
    set.then(
      ({ rules }) => {
        if (entries.peek(key) !== entry) return
        const size = emptySetBytes + sumOf(rules)
        entries.delete(key)
        large.delete(key)
        if (size > maxBytes * largeShare) large.set(key, entry, { size: Math.min(size, half) })
        else entries.set(key, entry, { size })
      },
      () => {
        if (entries.peek(key) === entry) entries.delete(key)
      },
    )
    return set
  }
}

function sumOf(rules: readonly ReadyRule[]): number {
  return rules.reduce((sum, { heapBytes }) => sum + heapBytes, 0)
}

/**
 * Reads the active rules of an event's workspace and type, compiles and indexes them, and stores the set for the events that
 * refer to it. Rules in `known` are not compiled again: among thousands of rules, a change of one must not delay all events.
 */
export async function readRuleSet(
  database: Database,
  event: Pick<LoadedEvent, 'workspaceId' | 'type' | 'rulesVersion'>,
  known: RuleSet,
): Promise<RuleSet> {
  const { workspaceId, type } = event
  const rows = await database.run<RuleRow>('read_rules', readRulesSql, [
    workspaceId,
    type,
    known.rules.map(({ id }) => id),
    known.rules.map(({ version }) => version),
  ])
  const compiled = new Map(known.rules.map((ready) => [stampOf(ready), ready]))
  const rules: ReadyRule[] = []
  let isChanged = false
  for (const { id, name, ...row } of rows) {
    if (id === null) continue
    const ready = compiled.get(stampOf({ id, version: row.version }))
    if (name === null && ready !== undefined) {
      rules.push(ready)
      continue
    }
    isChanged = true
    await yieldEvery(sliceMs)
    rules.push(makeReady({ id, name: name ?? '', ...row }))
  }
  const rulesVersion = rows[0]?.rulesVersion ?? event.rulesVersion
  // After the rules: a version of them that it does not know is also none of theirs.
  const waited = await readWaited(database, workspaceId, type)
  if (rules.length === 0) return { ...noRules, rulesVersion, waited }
  const id = await writeRuleSet(
    database,
    workspaceId,
    rules.map((ready) => ready.id),
  )
  if (!isChanged && id === known.id)
    return rulesVersion === known.rulesVersion ? known : { ...known, rulesVersion, waited }
  const { findCandidates } = indexRules(rules.map(conditionsOf))
  return { id, rules, rulesVersion, waited, hasGroups: hasGroups(rules), findCandidates }
}

/** The set of an event's addressee, whose group is not asked. It needs no row: the event names the addressee. */
export function makeSetOfOne(rule: ReadyRule | undefined, rulesVersion: number): RuleSet {
  if (rule === undefined) return { ...noRules, rulesVersion }
  return { ...noRules, id: rule.id, rules: [rule], rulesVersion, findCandidates: () => onlyIndex }
}

interface RuleRow {
  rulesVersion: number
  /** null where the workspace has no active rule of the type. */
  id: string | null
  version: number
  /** null in a version that is known; so are the next five. */
  name: string | null
  group: string | null
  order: number | null
  perKey: unknown
  conditions: unknown
  actions: unknown
}

/**
 * One statement: the rules are those of the one version of the workspace's rules that it returns. An event keeps that version, so that it is
 * known which versions of its rules were considered.
 *
 * $1 workspace · $2 type · $3 ids and $4 versions of the rules that are compiled
 */
const readRulesSql = `
  SELECT w.rules_version AS "rulesVersion", r.id, r.version, CASE WHEN known.id IS NULL THEN r.name END AS name,
         CASE WHEN known.id IS NULL THEN r.group_name END AS "group",
         CASE WHEN known.id IS NULL THEN r.group_order END AS "order",
         CASE WHEN known.id IS NULL THEN r.per_key END AS "perKey",
         CASE WHEN known.id IS NULL THEN r.conditions END AS conditions,
         CASE WHEN known.id IS NULL THEN r.actions END AS actions
  FROM workspaces w
  LEFT JOIN rules r ON r.workspace_id = w.id AND r.trigger = $2 AND r.is_active
  LEFT JOIN unnest($3::uuid[], $4::int[]) AS known (id, version) ON known.id = r.id AND known.version = r.version
  WHERE w.id = $1::uuid
  ORDER BY r.id`

/** $1 workspace · $2 set · $3 rule ids */
const writeRuleSetSql = `
  INSERT INTO rule_sets (workspace_id, id, rule_ids) VALUES ($1, $2, $3)
  ON CONFLICT (workspace_id, id) DO UPDATE SET used_at = now()
  WHERE rule_sets.used_at < now() - interval '30 minutes'`

/**
 * Stores a set of rules once, instead of with each event: 5,000 rule ids take 80 KB. The set has to be committed before the first
 * event that refers to it. A worker that caches a set writes it again every hour, so that unused sets can be removed.
 *
 * @param ruleIds in creation order
 * @returns the id of the set
 */
export async function writeRuleSet(
  database: Database,
  workspaceId: string,
  ruleIds: string[],
): Promise<string> {
  const id = ruleSetIdOf(ruleIds)
  await database.run('write_rule_set', writeRuleSetSql, [workspaceId, id, ruleIds])
  return id
}

/** A definition does not change without its version. */
function stampOf({ id, version }: { id: string; version: number }): string {
  return `${id} ${version}`
}

/** A rule that does not compile is always a candidate: each event records its fault. */
function conditionsOf({ compiled }: ReadyRule): Parameters<typeof indexRules>[0][number] {
  return 'fault' in compiled ? always : compiled
}
