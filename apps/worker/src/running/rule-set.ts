import { type Database, ruleSetIdOf } from '@automation/database'
import { indexRules, type RuleIndex } from '@automation/engine'
import type { LoadedEvent } from '@automation/ledger'
import { definitionColumns, makeReady, type ReadyRule } from './ready-rule.js'

/** The rules that an event considers, in creation order. */
export interface RuleSet {
  /** What is written of them with the event; null where there are none. */
  id: string | null
  rules: readonly ReadyRule[]
  /** The places of those that could match; of the others none does. */
  findCandidates: RuleIndex['findCandidates']
}

export const noRules: RuleSet = { id: null, rules: [], findCandidates: () => [] }

/** So many definitions are asked for by their ids; of more, all are read. */
const maxChanged = 1_000
const always = { conditions: [] }
const theOnlyPlace = [0]

/**
 * The active rules of an event's workspace and type, compiled, indexed, and written down for the events that consider them.
 * What `known` has of them is not compiled again: where there are thousands, a change of one must not hold up all events.
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
      if (!compiled.has(stampOf(row))) fresh.set(row.id, makeReady(row))
  }
  // Of a rule that has changed between the two questions the second one tells more.
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

/** The rule that an event is addressed to. Such a set needs no row: the event names the rule. */
export function makeSetOfOne(rule: ReadyRule | undefined): RuleSet {
  return rule === undefined ? noRules : { id: rule.id, rules: [rule], findCandidates: () => theOnlyPlace }
}

/**
 * Writes down which rules events consider from now on: once, instead of with each event (of 5,000 rules that would be
 * 80 KB). It has to be committed before the first event that names it. Whoever has a set at hand writes it anew every hour,
 * so that one that is long unused can be removed.
 *
 * @param ruleIds in creation order
 * @returns the id that the events are to name
 */
export async function writeRuleSet(
  database: Database,
  workspaceId: string,
  ruleIds: string[],
): Promise<string> {
  const id = ruleSetIdOf(ruleIds)
  await database.run('write_rule_set', statement, [workspaceId, id, ruleIds])
  return id
}

const statement = `
  INSERT INTO rule_sets (workspace_id, id, rule_ids) VALUES ($1, $2, $3)
  ON CONFLICT (workspace_id, id) DO UPDATE SET used_at = now()
  WHERE rule_sets.used_at < now() - interval '30 minutes'`

/** A definition never changes under its version. */
function stampOf({ id, version }: { id: string; version: number }): string {
  return `${id} ${version}`
}

/** One that does not compile is a candidate always: each event that meets it tells its fault. */
function conditionsOf({ compiled }: ReadyRule): Parameters<typeof indexRules>[0][number] {
  return 'fault' in compiled ? always : compiled
}
