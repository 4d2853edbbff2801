import type { Action, Condition, Rule } from '@automation/client'
import { listLongFaults, listRepeatedFaults, readJson } from '@automation/engine'
import type { PerKey } from './editing/describe-per-key.js'
import type { Schedule } from './editing/schedule-kinds.js'

/** What a version of a rule consists of. */
export interface Definition {
  name: string
  description: string
  labels?: string[]
  trigger: string
  /** Of the rules of a group only the first that matches runs. null or absent: it is in none. */
  group?: string | null
  order?: number | null
  /** When it runs by itself; only with the trigger SCHEDULE. */
  schedule?: Schedule | null
  /** How often it runs for each key. */
  perKey?: PerKey | null
  conditions: Condition[]
  actions: Action[]
}

/** What a rule, a version or a draft has beside its definition. */
const bookkeeping = new Set([
  ...[
    'id',
    'workspaceId',
    'version',
    'isActive',
    'mode',
    'expectEvery',
    'createdAt',
    'updatedAt',
    'createdBy',
  ],
  ...[
    'executionCount',
    'successCount',
    'failureCount',
    'lastSuccessAt',
    'lastFailureAt',
    'lastError',
    'nextRunAt',
  ],
  ...['ruleId', 'basedOn', 'isStale', 'etag', 'savedAt', 'savedBy', 'difference', 'differenceFault'],
])

/** Everything else belongs to the definition, also what this page has no words for: it is never lost. */
export function definitionOf(rule: Definition | Rule): Definition {
  const { name, description, trigger, conditions, actions, ...others } = rule
  const more = Object.entries(others).filter(([key, value]) => !bookkeeping.has(key) && value !== undefined)
  return { name, description, trigger, ...Object.fromEntries(more), conditions, actions }
}

/** A definition as text, for a diff. */
export function writeDefinition(definition: Definition): string {
  return JSON.stringify(definitionOf(definition), null, 2)
}

/** Reads the text of the JSON tab. @returns the definition, or why it is none */
export function readDefinition(text: string): Definition | string {
  let value: unknown
  try {
    const read = readJson(text, () => false)
    const [fault] = [...listRepeatedFaults(text), ...listLongFaults(read.longNumbers)]
    if (fault) return `${fault.field}: ${fault.message}.`
    value = read.value
  } catch (error) {
    return (error as Error).message
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'A rule is an object.'
  const {
    name = '',
    description = '',
    trigger = '',
    conditions = [],
    actions = [],
    ...others
  } = value as Partial<Definition>
  if (typeof name !== 'string' || typeof description !== 'string' || typeof trigger !== 'string')
    return 'name, description and trigger are texts.'
  if (!Array.isArray(conditions) || !Array.isArray(actions)) return 'conditions and actions are lists.'
  return definitionOf({ name, description, trigger, ...others, conditions, actions })
}

/** The order of keys says nothing: the service has its own. */
export function isSame(left: Definition, right: Definition): boolean {
  const write = (definition: Definition) =>
    JSON.stringify(definitionOf(definition), (_, value) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
        : value,
    )
  return write(left) === write(right)
}
