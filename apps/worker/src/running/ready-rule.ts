import { type CompiledRule, compileRule, type RuleDefinition } from '@automation/engine'

/** A rule, ready to run. `compiled` is a fault where a saved definition does not compile any more. */
export interface ReadyRule {
  id: string
  name: string
  version: number
  compiled: CompiledRule | { fault: string }
}

/** The columns that makeReady needs. */
export const definitionColumns = { id: true, name: true, version: true, conditions: true, actions: true }

export function makeReady(rule: {
  id: string
  name: string
  version: number
  conditions: unknown
  actions: unknown
}): ReadyRule {
  const { id, name, version } = rule
  try {
    return { id, name, version, compiled: compileRule(rule as unknown as RuleDefinition) }
  } catch (error) {
    // A rule that does not compile fails by itself: the other rules of its workspace run.
    return {
      id,
      name,
      version,
      compiled: { fault: `The rule does not compile: ${(error as Error).message}` },
    }
  }
}
