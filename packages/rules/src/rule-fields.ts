import { type DefinitionField, definitionFields, isJsonField, Prisma } from '@automation/database'
import { readWaitedPaths } from '@automation/engine'
import { type FullDefinition, type Omissible, usualDefinition } from './rule-schemas.js'

/** The fields that a rule shares with its versions, from a row or from a checked body. */
export type DefinitionFields = {
  [Field in keyof FullDefinition]: FullDefinition[Field] extends string | number | null | string[]
    ? Widened<FullDefinition[Field]>
    : unknown
}
/** A row may have a trigger that is none any more. */
type Widened<Value> = Value extends string ? string : Value

/** The fields that a user may set. */
export interface RuleFields extends DefinitionFields {
  isActive: boolean
  /** RuleMode. */
  mode: string
  /** A duration; null or absent: nobody expects it to match. */
  expectEvery?: string | null
}

/**
 * Without `isActive` and `mode`, a new rule is active, and an existing one keeps its state. An existing shadow stays one
 * without `mode`. Without `group` a rule is in none, and without `schedule` or `perKey` it has none. Without `expectEvery` it may be
 * silent. Several rules may have one name.
 */
export type FileRule = Omit<RuleFields, Optional> & Partial<Pick<RuleFields, Optional>>
type Optional = 'isActive' | 'mode' | Exclude<Omissible, 'description' | 'conditions'>

/** A stored rule, as far as saving it needs. */
export interface StoredRule extends RuleFields {
  id: string
  workspaceId: string
  version: number
}

/** Picks the fields that a version stores, from a rule or a version. */
export function definitionOf(fields: DefinitionFields): DefinitionFields {
  return pickFields(fields, definitionFields)
}

/** Picks fields of a definition, in their order. */
export function pickFields<
  Fields extends Partial<DefinitionFields>,
  Field extends DefinitionField & keyof Fields,
>(fields: Fields, names: readonly Field[]): Pick<Fields, Field> {
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as Pick<Fields, Field>
}

/** A definition with the usual values of what a request may leave out, and all else that the request has. */
export function completeDefinition<Body extends Partial<DefinitionFields>>(body: Body) {
  return { ...usualDefinition, ...body }
}

/** A row without its texts: many small versions have a limit, too. */
export const rowBytes = 1_024

/** About as many bytes as the texts of a definition take in Postgres, uncompressed. */
export function bytesOf(fields: DefinitionFields): number {
  const texts = definitionFields.map((field) => {
    const value = fields[field] ?? ''
    return typeof value === 'string' ? value : JSON.stringify(value)
  })
  return Buffer.byteLength(texts.join(''))
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
    awaits: jsonOf(awaits.length > 0 ? awaits : null),
  }
}

/** The columns of a definition, as Prisma takes them: it tells a column that is null from one that contains null. It was checked before. */
export function definitionColumnsOf(rule: DefinitionFields) {
  const entries = definitionFields.map((field) => [
    field,
    isJsonField(field) ? jsonOf(rule[field]) : rule[field],
  ])
  return Object.fromEntries(entries) as {
    [Field in keyof DefinitionFields]: ColumnOf<DefinitionFields[Field]>
  }
}

type ColumnOf<Value> = unknown extends Value ? Prisma.InputJsonObject : Value

function jsonOf(value: unknown) {
  return value === null ? Prisma.DbNull : (value as Prisma.InputJsonObject)
}
