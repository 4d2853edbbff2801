import type { Event, RuleResult } from '@automation/client'
import { formatFields, formatTable } from '../format.js'
import type { RuleNames } from './name-rules.js'

/** `eventType` is the same as `type`. */
export function formatEvent({ results, eventType: _, ...fields }: Event, names?: RuleNames): string {
  return `${formatFields(fields)}\n\n${formatRuleResults(results, names)}`
}

/** The outcome of an event: what became of each rule that it considered. */
export function formatRuleResults(results: RuleResult[], names: RuleNames = new Map()): string {
  const rows = results.map(({ ruleId, status, executionId, error = null }) => {
    return { rule: names.get(ruleId) ?? null, ruleId, status, executionId, error }
  })
  const columns = ['ruleId', 'status', 'executionId', 'error'] as const
  return formatTable(rows, names.size === 0 ? [...columns] : ['rule', ...columns])
}
