import {
  actionDefinitions,
  type Condition,
  type Grouped,
  mapLeaves,
  type PerKey,
  quantifiers,
  type RuleDefinition,
} from '@automation/engine'
import type { RuleFields } from './rule-fields.js'
import { isShadow } from './rule-mode.js'

/**
 * Arranges the keys of a rule in one order, whatever its source: the same rules give the same file, and a diff of two files shows
 * real differences only. Free-form parts (a webhook's body and headers, a mail's variables, an event's data) stay as they are.
 */
export function arrangeRule(
  fields: Omit<RuleFields, keyof Grouped | 'schedule'> & Partial<Grouped> & { schedule?: unknown },
) {
  const { conditions, actions } = fields as unknown as RuleDefinition
  return {
    name: fields.name,
    description: fields.description,
    trigger: fields.trigger,
    ...(typeof fields.group === 'string' && { group: fields.group, order: fields.order ?? null }),
    ...(isObject(fields.schedule) && {
      schedule: arrangeKeys(fields.schedule, ['cron', 'timezone', 'every', 'catchUp']),
    }),
    ...(fields.perKey ? { perKey: arrangePerKey(fields.perKey as PerKey) } : {}),
    conditions: conditions.map(arrangeCondition),
    actions: actions.map(arrangeAction),
    isActive: fields.isActive,
    ...(isShadow(fields) && { mode: 'shadow' }),
    ...(typeof fields.expectEvery === 'string' && { expectEvery: fields.expectEvery }),
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
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
