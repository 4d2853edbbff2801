import type { Change, ConditionTrace, RuleResult, RuleWhy } from '@automation/client'
import { cutText, describeChange, describeSuppression, sayValue } from '@automation/engine'
import { maskControls } from '../format.js'

/**
 * One paragraph for each rule: its result, what decided it, and the nearest data with which it would have matched.
 *
 * @param results what became of the executions: a rule that matched may have failed, or wait
 */
export function formatRules(rules: RuleWhy[], results: RuleResult[] = [], isPending = false): string {
  if (rules.length === 0)
    return isPending
      ? 'No worker has evaluated the event yet. If that lasts, no worker is running.'
      : 'No rule was considered.'
  const resultOf = new Map(results.map((result) => [result.executionId, result]))
  return rules.map((rule) => formatRule(rule, resultOf.get(rule.executionId ?? ''))).join('\n\n')
}

function formatRule(rule: RuleWhy, result: RuleResult | undefined): string {
  const { ruleId, name, version, verdict, executionId, outranked, suppressed, decisive, trace, change } = rule
  const known = version === null ? 'version not known' : `version ${version}`
  const clauses = decisive.map((path) => `  ${path}: ${describe(findClause(trace?.conditions ?? [], path))}`)
  const lines = [
    `${verdict}: ${name ?? 'a rule without a known name'} (${known})`,
    `  rule ${ruleId}${executionId === null ? '' : `, execution ${executionId}`}`,
    ...(result === undefined ? [] : [`  ${[result.status, result.error].filter(Boolean).join(': ')}`]),
    ...(outranked === null ? [] : [`  rule ${outranked.by} of its group ran instead`]),
    ...(suppressed === null ? [] : [`  key ${show(suppressed.key)}: ${describeSuppression(suppressed)}`]),
    ...clauses,
    ...(change === null || change.length === 0
      ? []
      : [
          `  would match if ${describeChange(change, (trace?.conditions ?? []) as never)}`,
          `  would match with: ${change.map(formatChange).join(', ')}`,
        ]),
  ]
  return lines.map(maskControls).join('\n')
}

/** Follows a path such as `conditions[0].any[1].not`. */
function findClause(conditions: ConditionTrace[], path: string): ConditionTrace | undefined {
  const [first, ...steps] = [...path.matchAll(/\[(\d+)\]|\.not\b/g)].map(([, index = '0']) => Number(index))
  // In a list, the conditions are those for the item that the trace shows.
  return steps.reduce<ConditionTrace | undefined>(
    (trace, index) => (trace?.children ?? trace?.conditions)?.[index],
    conditions[first ?? 0],
  )
}

function describe(clause: ConditionTrace | undefined): string {
  if (clause === undefined) return 'not explained'
  if (clause.list !== undefined) return describeList(clause)
  const { field, operator, expected, distance, distanceMs, note, didYouMean, warning } = clause
  const found = 'actual' in clause ? `found ${show(clause.actual)}` : 'the event has no such field'
  const hints = [
    distance !== undefined && `${distance} off`,
    distanceMs !== undefined && `${distanceMs / 1_000} s off`,
    note,
    didYouMean !== undefined && `did you mean ${didYouMean}?`,
    warning,
  ].filter(Boolean)
  const wanted = expected === undefined ? '' : ` ${sayValue(operator ?? '', expected, clause)}`
  return [`${field} ${operator}${wanted}`, found, ...hints].join(', ')
}

function describeList({
  list,
  quantifier,
  operator,
  expected,
  items,
  held,
  item,
  note,
  didYouMean,
  warning,
}: ConditionTrace): string {
  const wanted = operator === undefined ? '' : ` ${operator} ${sayValue(operator, expected)}`
  const hints = [
    items === undefined ? 'the event has no such list' : `${held ?? 'some'} of ${items} items fulfil it`,
    item !== undefined && `see item ${item}`,
    note,
    didYouMean !== undefined && `did you mean ${didYouMean}?`,
    warning,
  ].filter(Boolean)
  return [`${quantifier} of ${list}${wanted}`, ...hints].join(', ')
}

function formatChange(change: Change): string {
  const { field, from, to } = change
  return 'from' in change ? `${field} ${show(from)} → ${show(to)}` : `${field} → ${show(to)}`
}

const maxShown = 100

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return cutText(text, maxShown, '…')
}
