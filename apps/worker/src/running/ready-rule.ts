import { type CompiledRule, compileRule, type RuleDefinition } from '@automation/engine'

/** A rule ready to run. `compiled` is the fault's text where a definition that was saved once no longer compiles. */
export interface ReadyRule {
  id: string
  name: string
  version: number
  compiled: CompiledRule | { fault: string }
}

/** The columns that makeReady takes. */
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
    // One rule that cannot run must not keep the workspace's others from running: it fails by itself.
    return {
      id,
      name,
      version,
      compiled: { fault: `The rule does not compile: ${(error as Error).message}` },
    }
  }
}
