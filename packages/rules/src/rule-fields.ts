import type { Prisma } from '@automation/database'

/** What a rule and its versions have in common: of a row, or of a body that was checked. */
export interface DefinitionFields {
  name: string
  description: string
  trigger: string
  conditions: unknown
  actions: unknown
}

/** What may be set. */
export interface RuleFields extends DefinitionFields {
  isActive: boolean
}

/** A rule as it is, as far as saving it goes. */
export interface StoredRule extends RuleFields {
  id: string
  workspaceId: string
  version: number
}

/** Of a rule or a version of one, what a version keeps. */
export function definitionOf({
  name,
  description,
  trigger,
  conditions,
  actions,
}: DefinitionFields): DefinitionFields {
  return { name, description, trigger, conditions, actions }
}

/** The row of a rule's definition as it is now. */
export function versionRowOf(rule: StoredRule, createdBy: string, createdAt: Date) {
  return {
    ruleId: rule.id,
    version: rule.version,
    workspaceId: rule.workspaceId,
    ...(definitionOf(rule) as DefinitionFields & Json),
    createdAt,
    createdBy,
  }
}

/** JSON as Prisma takes it: whoever saves a rule has checked it. */
interface Json {
  conditions: Prisma.InputJsonValue
  actions: Prisma.InputJsonValue
}
