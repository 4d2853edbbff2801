import { type CheckedRule, checkRules, type ObservedFields } from '@automation/check'
import { type Fault, findRuleFaults } from '@automation/engine'
import { type Bounds, findOverrun, type Overrun, openBudget } from './bounds.js'
import type { StoredRule } from './judge-thread.js'

/** A rule as Postgres writes it: the API parses none. */
export interface StoredRuleToCheck extends StoredRule {
  trigger: string
  isActive: boolean
}

export interface SetToCheck {
  /** The rules of a body, or those of the workspace. Each has the shape of a rule. */
  rules: CheckedRule[] | { stored: StoredRuleToCheck[] }
  /** Epoch ms. */
  now: number
  /** What stored events have, by their type: as `surveyEvents` lists it. */
  observed: Record<string, string>
}

/** The findings that a response has room for: each may have an event of its own. */
const maxBytes = 16_777_216

/**
 * Checks a set of rules, as far as the work of one question reaches: the rest is in `notKnown`.
 *
 * @returns the JSON of the response, or the faults of the rules
 */
export function checkSet({
  rules: asked,
  now,
  observed,
  bounds,
}: SetToCheck & Bounds): { json: Uint8Array } | { faults: Fault[] } | Overrun | null {
  const budget = openBudget({ bounds })
  const isStored = 'stored' in asked
  const rules = isStored ? asked.stored.map(parseRule) : asked
  const faults: Fault[] = []
  // Without knowing its faults nothing can be said of a rule, and to find them compiles its patterns.
  const skipped = new Set<number>()
  for (const [index, rule] of rules.entries()) {
    if (isStored && budget.isBeyond(0.5)) skipped.add(index)
    const overrun = findOverrun(budget)
    if (overrun && !isStored) return overrun
    if (skipped.has(index)) continue
    for (const { field, message } of findRuleFaults(rule))
      faults.push({ field: `rules[${index}].${field}`, message })
  }
  if (faults.length > 0) return { faults }
  const findObserved = (type: string): ObservedFields | undefined =>
    observed[type] === undefined ? undefined : JSON.parse(observed[type])
  const json = new TextEncoder().encode(
    JSON.stringify(checkRules(rules, { now, findObserved, budget, skipped })),
  )
  return json.length > maxBytes ? null : { json }
}

function parseRule({ id, name, trigger, isActive, conditions, actions }: StoredRuleToCheck): CheckedRule {
  return { id, name, trigger, isActive, conditions: JSON.parse(conditions), actions: JSON.parse(actions) }
}
