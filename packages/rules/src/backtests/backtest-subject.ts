import type { BacktestSubject } from '@automation/backtest'
import { effectiveFields, type WorkspaceDatabase } from '@automation/database'
import { completeDefinition, type DefinitionFields, pickFields } from '../rule-fields.js'

/** @returns the rule as it is now; undefined where the workspace has no such rule */
export async function readActiveVersion(
  { rule }: Pick<WorkspaceDatabase, 'rule'>,
  id: string,
): Promise<BacktestSubject['active']> {
  const found = await rule.findUnique({ where: { id } })
  return found === null ? undefined : activeVersionOf(found)
}

/** The part of a rule that is tested. */
export function activeVersionOf(
  rule: DefinitionFields & { version: number },
): NonNullable<BacktestSubject['active']> {
  return { version: rule.version, definition: definitionToTest(rule) }
}

/** What is tested of a definition that was checked: what it does, without what it leaves out. */
export function definitionToTest(definition: Partial<DefinitionFields>): TestedDefinition {
  const { schedule, perKey, ...tested } = pickFields(completeDefinition(definition), effectiveFields)
  const optional = { ...(schedule === null ? {} : { schedule }), ...(perKey === null ? {} : { perKey }) }
  return { ...tested, ...optional } as TestedDefinition
}

type TestedDefinition = NonNullable<BacktestSubject['draft']>
