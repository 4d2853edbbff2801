import type { Client, Event, EventType, RuleResult } from '@automation/client'
import { formatFields, formatTable } from '../format.js'

export type RuleNames = ReadonlyMap<string, string>

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

/**
 * The names of the rules for a type, for a table of results. It is empty for who may not read rules: the results stand without names then.
 */
export async function readRuleNames(client: Client, { type }: { type: string }): Promise<RuleNames> {
  try {
    const { rules } = await client.rules.list({ trigger: type as EventType, limit: mostNamed })
    return new Map(rules.map(({ id, name }) => [id, name]))
  } catch {
    return new Map()
  }
}

/** Of one page. */
const mostNamed = 100
