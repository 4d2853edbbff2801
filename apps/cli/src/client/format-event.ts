import type { Event, RuleResult } from '@automation/client'
import { formatFields, formatTable } from '../format.js'

export function formatEvent({ results, ...fields }: Event): string {
  return `${formatFields(fields)}\n\n${formatRuleResults(results)}`
}

/** The outcome of an event: what became of each rule that it considered. */
export function formatRuleResults(results: RuleResult[]): string {
  const rows = results.map(({ ruleId, status, executionId, error = null }) => {
    return { ruleId, status, executionId, error }
  })
  return formatTable(rows, ['ruleId', 'status', 'executionId', 'error'])
}
