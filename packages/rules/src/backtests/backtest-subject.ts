import type { BacktestSubject } from '@automation/backtest'
import type { WorkspaceDatabase } from '@automation/database'
import type { Grouped, RuleDefinition } from '@automation/engine'

/** @returns the rule as it is now; undefined where the workspace has no such rule */
export async function readActiveVersion(
  { rule }: Pick<WorkspaceDatabase, 'rule'>,
  id: string,
): Promise<BacktestSubject['active']> {
  const found = await rule.findUnique({
    where: { id },
    select: {
      version: true,
      trigger: true,
      group: true,
      order: true,
      schedule: true,
      perKey: true,
      conditions: true,
      actions: true,
    },
  })
  return found === null ? undefined : activeVersionOf(found)
}

/** The part of a rule that is tested. */
export function activeVersionOf({
  version,
  ...tested
}: Tested & { version: number }): NonNullable<BacktestSubject['active']> {
  return { version, definition: definitionToTest(tested) }
}

/** What is tested of a definition that was checked. */
export function definitionToTest({
  trigger,
  group = null,
  order = null,
  schedule = null,
  perKey = null,
  conditions,
  actions,
}: Tested): TestedDefinition {
  const optional = { ...(schedule === null ? {} : { schedule }), ...(perKey === null ? {} : { perKey }) }
  return { trigger, group, order, ...optional, conditions, actions } as unknown as TestedDefinition
}

interface Tested extends Partial<Grouped> {
  trigger: string
  schedule?: unknown
  perKey?: unknown
  conditions: unknown
  actions: unknown
}

type TestedDefinition = RuleDefinition & Grouped & { trigger: string }
