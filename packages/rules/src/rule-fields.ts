import { Prisma } from '@automation/database'
import { readWaitedPaths } from '@automation/engine'

/** The fields that a rule shares with its versions, from a row or from a checked body. */
export interface DefinitionFields {
  name: string
  description: string
  trigger: string
  group: string | null
  order: number | null
  /** Schedule, or null. */
  schedule: unknown
  /** PerKey; without it, null. */
  perKey?: unknown
  conditions: unknown
  actions: unknown
}

/** The fields that a user may set. */
export interface RuleFields extends DefinitionFields {
  isActive: boolean
  /** RuleMode. */
  mode: string
  /** A duration; null or absent: nobody expects it to match. */
  expectEvery?: string | null
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
  perKey = null,
  conditions,
  actions,
}: DefinitionFields): DefinitionFields {
  return { name, description, trigger, group, order, schedule, perKey, conditions, actions }
}

/** A definition with the usual values of what a request may leave out, and all else that the request has. */
export function completeDefinition<Body extends Partial<DefinitionFields>>(body: Body) {
  const { group = null, order = null, schedule = null, perKey = null } = body
  return { description: '', conditions: [], ...body, group, order, schedule, perKey }
}

/** A row without its texts: many small versions have a limit, too. */
export const rowBytes = 1_024

/** About as many bytes as the texts of a definition take in Postgres, uncompressed. */
export function bytesOf({ description, perKey, conditions, actions }: DefinitionFields): number {
  const parts = perKey ? [perKey, conditions, actions] : [conditions, actions]
  return Buffer.byteLength(description + parts.map((part) => JSON.stringify(part)).join(''))
}

/** The row of rule_versions for the present definition of a rule. */
export function versionRowOf(rule: StoredRule, createdBy: string, createdAt: Date) {
  const awaits = readWaitedPaths(rule.actions)
  return {
    ruleId: rule.id,
    version: rule.version,
    workspaceId: rule.workspaceId,
    ...definitionColumnsOf(rule),
    createdAt,
    createdBy,
    bytes: bytesOf(rule) + rowBytes,
    awaits: columnOf(awaits.length > 0 ? awaits : null),
  }
}

/** The columns of a definition, as Prisma takes them: it tells a column that is null from one that contains null. It was checked before. */
export function definitionColumnsOf(rule: DefinitionFields) {
  const { schedule, perKey, ...definition } = definitionOf(rule)
  return {
    ...(definition as Omit<DefinitionFields, 'schedule' | 'perKey'> & Json),
    schedule: columnOf(schedule),
    perKey: columnOf(perKey),
  }
}

function columnOf(value: unknown) {
  return value === null ? Prisma.DbNull : (value as Prisma.InputJsonObject)
}

interface Json {
  conditions: Prisma.InputJsonValue
  actions: Prisma.InputJsonValue
}
