import { type CheckResult, checkRules, type NotKnown, type ObservedFields } from '@automation/check'
import { type CheckedRule, type Fault, findRuleFaults, type KnownCredential } from '@automation/engine'
import { type Bounds, findOverrun, maxResponseBytes, type Overrun, openBudget } from './bounds.js'
import type { RuleToDryRun } from './dry-run.js'
import { JsonPieces } from './json-pieces.js'

/** A rule as Postgres writes it: the API parses none. */
export interface StoredRuleToCheck extends RuleToDryRun {
  trigger: string
  isActive: boolean
}

export interface SetToCheck {
  /** The rules of a body, or those of the workspace. Each has the shape of a rule. */
  rules: CheckedRule[] | { stored: StoredRuleToCheck[] }
  /** Epoch ms. */
  now: number
  /** Absent: nothing is said of them. */
  credentials?: KnownCredential[]
  /** What stored events have, by their type: as `surveyEvents` lists it. */
  observed: Record<string, string>
}

/** The rest of the response is for what is not known. */
const maxFindingBytes = 3_145_728
const maxOpenBytes = maxResponseBytes - maxFindingBytes - 8_192

/**
 * Checks a set of rules, as far as the work of one question and the response reach: the rest is in `notKnown`.
 *
 * @returns the JSON of the response, or the faults of the rules
 */
export function checkSet({
  rules: asked,
  now,
  observed,
  credentials,
  bounds,
}: SetToCheck & Bounds): { json: Uint8Array } | { faults: Fault[] } | Overrun {
  const budget = openBudget({ bounds })
  const isStored = 'stored' in asked
  const rules = isStored ? asked.stored.map(parseRule) : asked
  const faults: Fault[] = []
  // Without knowing its faults nothing can be said of a rule, and to find them compiles its patterns.
  const skipped = new Map<number, Fault | undefined>()
  for (const [index, rule] of rules.entries()) {
    if (isStored && budget.isBeyond(0.5)) skipped.set(index, undefined)
    const overrun = findOverrun(budget)
    if (overrun && !isStored) return overrun
    if (skipped.has(index)) continue
    const found = findRuleFaults(rule)
    if (isStored && found[0] !== undefined) skipped.set(index, found[0])
    else for (const { field, message } of found) faults.push({ field: `rules[${index}].${field}`, message })
  }
  if (faults.length > 0) return { faults }
  const findObserved = (type: string): ObservedFields | undefined =>
    observed[type] === undefined ? undefined : JSON.parse(observed[type])
  return {
    json: writeResult(
      checkRules(rules, { now, findObserved, ...(credentials && { credentials }), budget, skipped }),
    ),
  }
}

/** Writes finding by finding: the most severe come first, and those without room are not known. */
function writeResult({ findings, notKnown }: CheckResult): Uint8Array {
  const found = new JsonPieces(maxFindingBytes)
  const reason = `It was found, but the findings have more than ${maxFindingBytes} bytes: check fewer rules at a time`
  const leftOut = listItems(found, findings).map(({ rule, path, code }) => ({ rule, path, code, reason }))
  const open = new JsonPieces(maxOpenBytes)
  const [next, ...more] = listItems<NotKnown>(open, [...leftOut, ...notKnown])
  const last = next && {
    ...next,
    reason: `This and ${more.length} more questions have no room in the response: check fewer rules at a time`,
  }
  return Buffer.concat([
    Buffer.from('{"findings":['),
    found.join(),
    Buffer.from('],"notKnown":['),
    open.join(),
    Buffer.from(last === undefined ? ']}' : `,${JSON.stringify(last)}]}`),
  ])
}

/** Lists as many items as have room. @returns those that have none */
function listItems<Item>(json: JsonPieces, items: readonly Item[]): Item[] {
  let separator = ''
  return items.filter((item) => {
    if (!json.add(separator + JSON.stringify(item))) return true
    separator = ','
    return false
  })
}

function parseRule({ conditions, actions, ...rule }: StoredRuleToCheck): CheckedRule {
  return { ...rule, conditions: JSON.parse(conditions), actions: JSON.parse(actions) }
}
