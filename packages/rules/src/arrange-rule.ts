import { type DefinitionField, definitionFields } from '@automation/database'
import {
  actionDefinitions,
  type Condition,
  mapLeaves,
  type PerKey,
  quantifiers,
  type RuleDefinition,
  type Schedule,
} from '@automation/engine'
import type { FileRule, RuleFields } from './rule-fields.js'
import { isShadow } from './rule-mode.js'

/**
 * Arranges the keys of a rule in one order, whatever its source: the same rules give the same file, and a diff of two files shows
 * real differences only. Free-form parts (a webhook's body and headers, a mail's variables, an event's data) stay as they are.
 */
export function arrangeRule(fields: RuleFields | FileRule): FileRule {
  const definition = definitionFields.flatMap((field) => {
    const value = fields[field] ?? null
    // What a rule has not is left out.
    if (value === null || (field === 'labels' && fields.labels?.length === 0)) return []
    const arrange = arrangers[field]
    return [[field, arrange ? arrange(value as never) : value]]
  })
  return {
    ...(Object.fromEntries(definition) as Pick<FileRule, DefinitionField>),
    isActive: fields.isActive,
    ...(isShadow(fields) && { mode: 'shadow' }),
    ...(typeof fields.expectEvery === 'string' && { expectEvery: fields.expectEvery }),
  } as FileRule
}

/** Of the fields that have keys. */
const arrangers: { [Field in DefinitionField]?: (value: never) => unknown } = {
  schedule: (schedule: Schedule) => arrangeKeys(schedule, ['cron', 'timezone', 'every', 'catchUp']),
  perKey: arrangePerKey,
  conditions: (conditions: Condition[]) => conditions.map(arrangeCondition),
  actions: (actions: RuleDefinition['actions']) => actions.map(arrangeAction),
}

function arrangePerKey(perKey: PerKey): PerKey {
  const { atLeast, atMost, collect } = perKey
  return arrangeKeys(
    {
      ...perKey,
      ...(atLeast && { atLeast: arrangeKeys(atLeast, ['events', 'within']) }),
      ...(atMost && { atMost: arrangeKeys(atMost, ['runs', 'per']) }),
      ...(collect && { collect: arrangeKeys(collect, ['for', 'at', 'quiet', 'max']) }),
    },
    ['key', 'atLeast', 'atMost', 'whileRunning', 'collect'],
  )
}

function arrangeCondition(condition: Condition): Condition {
  return mapLeaves(condition, (leaf) =>
    arrangeKeys(leaf, [...quantifiers, 'that', 'field', 'operator', 'value']),
  )
}

function arrangeAction(action: RuleDefinition['actions'][number]): object {
  const definition = actionDefinitions.find(({ type }) => type === action.type)
  const arranged = {
    ...action,
    config: arrangeConfig(action.config, Object.keys(definition?.config.properties ?? {})),
    ...(action.when && { when: arrangeCondition(action.when) }),
    ...(action.retry && {
      retry: arrangeKeys(action.retry, ['attempts', 'backoff', 'delayMs', 'maxDelayMs']),
    }),
  }
  return arrangeKeys(arranged, [
    'name',
    'type',
    'config',
    'when',
    'retry',
    'timeoutMs',
    'continueOnError',
    'onUncertain',
  ])
}

function arrangeConfig<Config extends object>(config: Config, names: string[]): Config {
  const arranged = arrangeKeys(config, names)
  if ('for' in arranged) return { ...arranged, for: arrangeWaitFor(arranged.for as object) }
  if ('decision' in arranged)
    return {
      ...arranged,
      decision: arrangeKeys(arranged.decision as object, ['options', 'roles', 'ask', 'within']),
    }
  return 'where' in arranged && Array.isArray(arranged.where)
    ? { ...arranged, where: arranged.where.map(arrangeCondition) }
    : arranged
}

function arrangeWaitFor(awaited: object): object {
  const arranged = arrangeKeys(awaited, ['eventType', 'match', 'conditions', 'then'])
  return 'conditions' in arranged && Array.isArray(arranged.conditions)
    ? { ...arranged, conditions: arranged.conditions.map(arrangeCondition) }
    : arranged
}

/** The named keys come first, in the order of the names. */
function arrangeKeys<Value extends object>(value: Value, names: string[]): Value {
  const known = names.filter((name) => Object.hasOwn(value, name))
  const others = Object.keys(value).filter((name) => !names.includes(name))
  const entries = [...known, ...others].map((name) => [name, value[name as keyof Value]])
  return Object.fromEntries(entries) as Value
}
