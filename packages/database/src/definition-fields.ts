/**
 * The fields of the definition of a rule, in the order in which they are shown, each with its column and the type of it in `rules`, `rule_versions`
 * and `rule_drafts`. FullDefinition (packages/rules) has the schema of each: the compiler asks there for a field that is added here.
 */
const columns = {
  name: { column: 'name', type: 'text' },
  description: { column: 'description', type: 'text' },
  labels: { column: 'labels', type: 'text[]' },
  trigger: { column: 'trigger', type: 'text' },
  group: { column: 'group_name', type: 'text' },
  order: { column: 'group_order', type: 'int' },
  schedule: { column: 'schedule', type: 'json' },
  perKey: { column: 'per_key', type: 'json' },
  conditions: { column: 'conditions', type: 'json' },
  actions: { column: 'actions', type: 'json' },
} as const

export type DefinitionField = keyof typeof columns
export const definitionFields = Object.keys(columns) as DefinitionField[]
/** The large ones, which a summary does not have. */
export const bodyFields: readonly DefinitionField[] = ['conditions', 'actions']
export const summaryFields = definitionFields.filter((field) => field !== 'conditions' && field !== 'actions')
/** All but description and labels: what stays of a version when its rule is deleted. */
export const keptFields = definitionFields.filter((field) => field !== 'description' && field !== 'labels')
/** Those that decide what a rule does. Its name, description and labels are for people. */
export const effectiveFields = keptFields.filter((field) => field !== 'name')

export function columnOf(field: DefinitionField): string {
  return columns[field].column
}

/** Whether null in it is another value than no value, as Prisma tells them apart. */
export function isJsonField(field: DefinitionField): boolean {
  return columns[field].type === 'json'
}

/**
 * Writes what a SELECT has for these fields: each under its own name.
 *
 * @param alias of their table
 * @param texts fields of JSON that are read as text: to parse those of thousands of rules would hold the event loop
 */
export function selectFields(
  fields: readonly DefinitionField[],
  { alias, texts = [] }: { alias?: string; texts?: readonly DefinitionField[] } = {},
): string {
  return fields
    .map((field) => {
      const column = `${alias === undefined ? '' : `${alias}.`}${columnOf(field)}`
      return `${column}${texts.includes(field) ? '::text' : ''} AS "${field}"`
    })
    .join(', ')
}

/** Writes the sum of the bytes of these fields, as text. */
export function sizeFields(fields: readonly DefinitionField[] = definitionFields): string {
  return fields
    .filter((field) => columns[field].type !== 'int')
    .map((field) => `coalesce(octet_length(${columnOf(field)}::text), 0)`)
    .join(' + ')
}

/** Writes the columns of a recordset, under their names in the table. */
export function declareFields(): string {
  return Object.values(columns)
    .map(({ column, type }) => `${column} ${type}`)
    .join(', ')
}
