import type { Overview } from '@automation/client'
import { formatFields, formatTable } from '../format.js'

/** The totals, the failures by rule and error if they were asked for, and the times at which anything happened. */
export function formatOverview({ totals, slices, failures, ...rest }: Overview): string {
  const busy = slices.filter(({ from: _, p95Ms, ...counts }) => Object.values(counts).some(Boolean))
  const groups = failures.map(({ ruleName, ...group }) => ({ rule: ruleName, ...group }))
  return [
    formatFields({ ...rest, ...totals }),
    ...(groups.length === 0
      ? []
      : [formatTable(groups, ['count', 'rule', 'ruleId', 'error', 'lastAt', 'newestId'])]),
    formatTable(busy, ['from', 'events', 'succeeded', 'failed', 'cancelled', 'unfinished', 'p95Ms']),
  ].join('\n\n')
}
