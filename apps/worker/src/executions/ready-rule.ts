import { type CompiledRule, compileRule, type Grouped, type RuleDefinition } from '@automation/engine'
import { heapBytesOf } from '@automation/ledger'

/** A rule, ready to run. `compiled` is a fault where a saved definition does not compile any more. */
export interface ReadyRule extends Grouped {
  id: string
  name: string
  version: number
  compiled: CompiledRule | { fault: string }
  /** About what it takes in memory, without its regular expressions. */
  heapBytes: number
}

/** What a compiled rule takes in any case, and how many times what its definition takes. */
const leastBytes = 2_000
const compiledFactor = 3

/** The columns that makeReady needs. */
export const definitionColumns = {
  id: true,
  name: true,
  version: true,
  perKey: true,
  conditions: true,
  actions: true,
}

/** A stored rule; without a group where it meets its event alone. */
export interface RuleRow extends Partial<Grouped> {
  id: string
  name: string
  version: number
  perKey?: unknown
  conditions: unknown
  actions: unknown
}

export function makeReady(rule: RuleRow): ReadyRule {
  const { id, name, version, group = null, order = null, conditions, actions } = rule
  const heapBytes = leastBytes + compiledFactor * heapBytesOf(JSON.stringify([conditions, actions]))
  const ready = { id, name, version, group, order, heapBytes }
  try {
    return { ...ready, compiled: compileRule(rule as unknown as RuleDefinition) }
  } catch (error) {
    // A rule that does not compile fails by itself: the other rules of its workspace run.
    return { ...ready, compiled: { fault: `The rule does not compile: ${(error as Error).message}` } }
  }
}
