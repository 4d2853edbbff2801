import { Prisma } from '@automation/database'

/** The fields that a rule shares with its versions, from a row or from a checked body. */
export interface DefinitionFields {
  name: string
  description: string
  trigger: string
  group: string | null
  order: number | null
  /** Schedule, or null. */
  schedule: unknown
  conditions: unknown
  actions: unknown
}

/** The fields that a user may set. */
export interface RuleFields extends DefinitionFields {
  isActive: boolean
  /** RuleMode. */
  mode: string
}

/** A stored rule, as far as saving it needs. */
export interface StoredRule extends RuleFields {
  id: string
  workspaceId: string
  version: number
}

/** Picks the fields that a version stores, from a rule or a version. */
export function definitionOf({
  name,
  description,
  trigger,
  group,
  order,
  schedule,
  conditions,
  actions,
}: DefinitionFields): DefinitionFields {
  return { name, description, trigger, group, order, schedule, conditions, actions }
}

/** A row without its texts: many small versions have a limit, too. */
export const rowBytes = 1_024

/** About as many bytes as the texts of a definition take in Postgres, uncompressed. */
export function bytesOf({ description, conditions, actions }: DefinitionFields): number {
  return Buffer.byteLength(description + JSON.stringify(conditions) + JSON.stringify(actions))
}

/** The row of rule_versions for the present definition of a rule. */
export function versionRowOf(rule: StoredRule, createdBy: string, createdAt: Date) {
  return {
    ruleId: rule.id,
    version: rule.version,
    workspaceId: rule.workspaceId,
    ...(definitionOf(rule) as DefinitionFields & Json),
    schedule: scheduleColumn(rule),
    createdAt,
    createdBy,
    bytes: bytesOf(rule) + rowBytes,
  }
}

/** JSON of Prisma's type: it tells a column that is null from one that contains null. */
export function scheduleColumn({ schedule }: { schedule: unknown }) {
  return schedule === null ? Prisma.DbNull : (schedule as Prisma.InputJsonObject)
}

/** JSON of Prisma's type. The definition was checked before it is saved. */
interface Json {
  conditions: Prisma.InputJsonValue
  actions: Prisma.InputJsonValue
}
