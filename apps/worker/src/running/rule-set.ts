import { type Database, ruleSetIdOf } from '@automation/database'
import { indexRules, type RuleIndex } from '@automation/engine'
import type { LoadedEvent } from '@automation/ledger'
import { definitionColumns, makeReady, type ReadyRule } from './ready-rule.js'
import { TimeSlices } from './time-slices.js'

/** The rules that are evaluated for an event, in creation order. */
export interface RuleSet {
  /** Recorded with the event; null where there are no rules. */
  id: string | null
  rules: readonly ReadyRule[]
  /** The indexes of the rules that could match; all others do not. */
  findCandidates: RuleIndex['findCandidates']
}

export const noRules: RuleSet = { id: null, rules: [], findCandidates: () => [] }

/** Up to this many changed definitions are read by their ids; above it, all definitions are read. */
const maxChanged = 1_000
const always = { conditions: [] }
const onlyIndex = [0]
/** To compile a thousand rules may take seconds. */
const slices = new TimeSlices()

/**
 * Reads the active rules of an event's workspace and type, compiles and indexes them, and stores the set for the events that
 * refer to it. Rules in `known` are not compiled again: among thousands of rules, a change of one must not delay all events.
 */
export async function readRuleSet(
  database: Database,
  { workspaceId, type }: LoadedEvent,
  known: RuleSet,
): Promise<RuleSet> {
  const { rule } = database.forWorkspace(workspaceId)
  const where = { trigger: type, isActive: true }
  const select = { id: true, version: true }
  const current = await rule.findMany({ where, select, orderBy: { id: 'asc' } })
  const compiled = new Map(known.rules.map((ready) => [stampOf(ready), ready]))
  const changed = current.filter((row) => !compiled.has(stampOf(row))).map(({ id }) => id)
  const fresh = new Map<string, ReadyRule>()
  if (changed.length > 0) {
    const among = changed.length > maxChanged ? where : { ...where, id: { in: changed } }
    for (const row of await rule.findMany({ where: among, select: definitionColumns }))
      if (!compiled.has(stampOf(row))) {
        await slices.begin()
        fresh.set(row.id, makeReady(row))
      }
  }
  // Where a rule changed between the two queries, the second one has the newer definition.
  const rules = current.flatMap((row) => fresh.get(row.id) ?? compiled.get(stampOf(row)) ?? [])
  if (rules.length === 0) return noRules
  const id = await writeRuleSet(
    database,
    workspaceId,
    rules.map((ready) => ready.id),
  )
  if (fresh.size === 0 && id === known.id) return known
  const { findCandidates } = indexRules(rules.map(conditionsOf))
  return { id, rules, findCandidates }
}

/** The set of an event's addressee. It needs no row: the event names the addressee. */
export function makeSetOfOne(rule: ReadyRule | undefined): RuleSet {
  return rule === undefined ? noRules : { id: rule.id, rules: [rule], findCandidates: () => onlyIndex }
}

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
