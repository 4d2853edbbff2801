import type { Vocabulary } from '@automation/engine'
import { SchemeSettings } from '@automation/webhooks'

/** A JSON schema, as far as the tables show it. */
interface Shown {
  type?: string | string[]
  title?: string
  description?: string
  enum?: unknown[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  maxItems?: number
  properties?: Record<string, Shown>
  required?: string[]
  items?: Shown
}

/** Of a page, by the names of its generated parts. */
export type Tables = Record<string, string>

/**
 * Replaces the generated parts of a page, which stand between `<!-- generated: <name> -->` and `<!-- end -->`.
 *
 * @throws Error if a part has no table, or a table no part
 */
export function fillPage(page: string, tables: Tables): string {
  const missing = new Set(Object.keys(tables))
  const filled = page.replace(
    /(<!-- generated: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, start, name, end) => {
      const table = tables[name]
      if (table === undefined) throw new Error(`The page has an unknown part: ${name}`)
      missing.delete(name)
      return `${start}${table}\n${end}`
    },
  )
  if (missing.size > 0) throw new Error(`The page lacks the parts ${[...missing].join(', ')}`)
  return filled
}

/** Those of docs/guides/incoming-webhooks.md: what only the scheme `generic` has as a setting, or needs as one. */
export function writeSettingTables(): Tables {
  const { properties = {} } = SchemeSettings as unknown as Shown
  const rows = Object.entries(properties).flatMap(([name, schema]) => {
    const [, meaning] = /^(?:twilio, and )?generic:? (.+)$/s.exec(schema.description ?? '') ?? []
    return meaning === undefined ? [] : [[code(name), showType(schema), meaning]]
  })
  return { generic: table(['Setting', 'Value', 'Meaning'], rows) }
}

/** Those of the pages about the language of rules, by the page. */
export function writeTables(vocabulary: Vocabulary): Record<string, Tables> {
  const { eventTypes, operators, filters, actions, actionFields, limits } = vocabulary
  return {
    'reference/rules.md': {
      eventNames: listNames(eventTypes.map(({ type }) => type)),
      operatorNames: listNames(operators.map(({ name }) => name)),
      filterNames: listNames(filters.map(({ name }) => name)),
      actionNames: listNames(actions.map(({ type }) => type)),
    },
    'reference/event-types.md': {
      eventTypes: table(
        ['Event type', 'When', 'Example of its data'],
        eventTypes.map(({ type, description, example }) => [code(type), description, json(example)]),
      ),
    },
    'reference/conditions.md': writeConditionTables(vocabulary),
    'reference/templates.md': {
      filters: table(
        ['Filter', 'What it does', 'Template', 'Data', 'Output'],
        filters.map(({ name, description, example: { template, data, output } }) => [
          code(name),
          description,
          code(template),
          json(data),
          json(output),
        ]),
      ),
    },
    'reference/actions.md': {
      actions: actions.map(writeAction).join('\n\n'),
      actionFields: table(
        ['Field', 'Value', 'Meaning'],
        actionFields.map(({ name, schema }) => fieldRow(name, schema as Shown)),
      ),
      retry: table(
        ['Field of `retry`', 'Value', 'Meaning'],
        fieldRows(actionFields.find(({ name }) => name === 'retry')?.schema as Shown),
      ),
    },
    'reference/limits.md': {
      limits: table(
        ['Limit', 'At most', 'Of what'],
        limits.map(({ name, value, unit, description }) => [
          name,
          `${value.toLocaleString('en-US')} ${unit}`,
          description,
        ]),
      ),
    },
  }
}

const listNames = (names: string[]): string => names.map(code).join(' ')

function writeConditionTables({ operators, quantifiers }: Vocabulary): Tables {
  return {
    operators: table(
      ['Operator', 'It holds if', '`value`', 'Looks at', 'Missing data', 'Holds for', 'Does not hold for'],
      operators.map(
        ({ name, aliases, description, value, compares, comparesFields, whenMissing, example }) => [
          [name, ...aliases].map(code).join(', '),
          description,
          value === null
            ? ''
            : `${showValue(value as Shown)}, such as ${json(example.value)}${comparesFields ? '; or another field' : ''}`,
          compares.length > 4 ? 'any kind' : compares.join(', '),
          String(whenMissing),
          example.holds.map(json).join(' '),
          example.fails.map(json).join(' ') + (example.at === undefined ? '' : ` (at ${example.at})`),
        ],
      ),
    ),
    quantifiers: table(
      ['Condition', 'It holds if', 'Example', 'Holds for', 'Does not hold for'],
      quantifiers.map(({ name, description, example: { condition, holds, fails } }) => [
        code(name),
        description,
        json(condition),
        holds.map(json).join(' '),
        fails.map(json).join(' '),
      ]),
    ),
  }
}

function writeAction({
  type,
  description,
  config,
  placeholders,
  example,
}: Vocabulary['actions'][number]): string {
  const rows = fieldRows(config as Shown).map(([field = '', ...rest]) => [
    field,
    ...rest,
    placeholders.includes(field.split('`')[1] ?? '') ? 'yes' : 'no',
  ])
  return [
    `## ${type}`,
    description,
    table(['Field of `config`', 'Value', 'Meaning', 'Placeholders'], rows),
    `\`\`\`json\n${JSON.stringify({ type, config: example }, null, 2)}\n\`\`\``,
  ].join('\n\n')
}

function fieldRows({ properties = {}, required = [] }: Shown): string[][] {
  return Object.entries(properties).map(([name, schema]) => fieldRow(name, schema, required.includes(name)))
}

function fieldRow(name: string, schema: Shown, isRequired = false): string[] {
  return [`${code(name)}${isRequired ? ', required' : ''}`, showType(schema), schema.description ?? '']
}

/** The value of a clause. A schema of texts that have a meaning has a description. */
function showValue(schema: Shown): string {
  const { description, maxItems } = schema
  if (description !== undefined) return description
  return maxItems === undefined
    ? showType(schema)
    : `list of 1 to ${maxItems} strings, numbers, booleans or nulls`
}

function showType(schema: Shown): string {
  const { type, enum: values, minimum, maximum, minLength, maxLength, title } = schema
  if (title === 'Condition') return 'a condition'
  if (title === 'EventType') return 'an event type'
  if (schema.items?.title === 'Condition') return 'a list of conditions'
  if (values !== undefined) return values.map(String).map(code).join(', ')
  const types = [type ?? 'any JSON'].flat().join(' or ')
  if (maxLength !== undefined) return `${types}, ${minLength ?? 0} to ${maxLength} characters`
  if (maximum !== undefined) return `${types}, ${minimum ?? 0} to ${maximum}`
  return types
}

function table(head: string[], rows: string[][]): string {
  const write = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [write(head), write(head.map(() => '---')), ...rows.map(write)].join('\n')
}

function json(value: unknown): string {
  return code(JSON.stringify(value))
}

function code(text: string): string {
  return `\`${text}\``
}
