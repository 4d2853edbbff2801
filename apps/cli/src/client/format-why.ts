import type { Change, ConditionTrace, RuleWhy } from '@automation/client'
import { maskControls } from '../format.js'

/** One paragraph for each rule: its verdict, what decided it, and the nearest data with which it would have matched. */
export function formatRules(rules: RuleWhy[]): string {
  if (rules.length === 0) return 'No rule was considered.'
  return rules.map(formatRule).join('\n\n')
}

function formatRule({
  ruleId,
  name,
  version,
  verdict,
  executionId,
  decisive,
  trace,
  change,
}: RuleWhy): string {
  const known = version === null ? 'version not known' : `version ${version}`
  const clauses = decisive.map((path) => `  ${path}: ${describe(findClause(trace?.conditions ?? [], path))}`)
  const lines = [
    `${verdict}: ${name ?? 'a rule without a known name'} (${known})`,
    `  rule ${ruleId}${executionId === null ? '' : `, execution ${executionId}`}`,
    ...clauses,
    ...(change === null || change.length === 0
      ? []
      : [`  would match with: ${change.map(formatChange).join(', ')}`]),
  ]
  return lines.map(maskControls).join('\n')
}

/** Follows a path such as `conditions[0].any[1].not`. */
function findClause(conditions: ConditionTrace[], path: string): ConditionTrace | undefined {
  const [first, ...steps] = [...path.matchAll(/\[(\d+)\]|\.not\b/g)].map(([, index = '0']) => Number(index))
  return steps.reduce((trace, index) => trace?.children?.[index], conditions[first ?? 0])
}

function describe(clause: ConditionTrace | undefined): string {
  if (clause === undefined) return 'not explained'
  const { field, operator, expected, distance, distanceMs, note, didYouMean, warning } = clause
  const found = 'actual' in clause ? `found ${show(clause.actual)}` : 'the event has no such field'
  const hints = [
    distance !== undefined && `${distance} off`,
    distanceMs !== undefined && `${distanceMs / 1_000} s off`,
    note,
    didYouMean !== undefined && `did you mean ${didYouMean}?`,
    warning,
  ].filter(Boolean)
  const wanted = expected === undefined ? '' : ` ${show(expected)}`
  return [`${field} ${operator}${wanted}`, found, ...hints].join(', ')
}

function formatChange(change: Change): string {
  const { field, from, to } = change
  return 'from' in change ? `${field} ${show(from)} → ${show(to)}` : `${field} → ${show(to)}`
}

const maxShown = 100

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text
}
