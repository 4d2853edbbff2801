import type { BacktestSubject } from '@automation/backtest'
import type { WorkspaceDatabase } from '@automation/database'
import type { RuleDefinition } from '@automation/engine'

/** @returns the rule as it is now; undefined where the workspace has no such rule */
export async function readActiveVersion(
  { rule }: Pick<WorkspaceDatabase, 'rule'>,
  id: string,
): Promise<BacktestSubject['active']> {
  const found = await rule.findUnique({
    where: { id },
    select: { version: true, trigger: true, conditions: true, actions: true },
  })
  return found === null ? undefined : activeVersionOf(found)
}

/** The part of a rule that is tested. */
export function activeVersionOf({
  version,
  trigger,
  conditions,
  actions,
}: Tested & { version: number }): NonNullable<BacktestSubject['active']> {
  return { version, definition: definitionToTest({ trigger, conditions, actions }) }
}

/** What is tested of a definition that was checked. */
export function definitionToTest({ trigger, conditions, actions }: Tested): TestedDefinition {
  return { trigger, conditions, actions } as unknown as TestedDefinition
}

interface Tested {
  trigger: string
  conditions: unknown
  actions: unknown
}

type TestedDefinition = RuleDefinition & { trigger: string }
