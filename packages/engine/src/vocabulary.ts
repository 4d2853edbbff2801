import type { TObject } from 'typebox'
import type { ActionDefinition } from './actions/action-definition.js'
import { actionDefinitions } from './actions/index.js'
import { type EventTypeDefinition, eventTypeDefinitions, reservedTypeDefinitions } from './event-types.js'
import { filterDefinitions } from './filters/index.js'
import { type Limit, listLimits } from './limits.js'
import { operators } from './operators/index.js'
import type { Operator } from './operators/operator.js'
import { type QuantifierDefinition, quantifierDefinitions } from './operators/quantifiers.js'
import { actionFields } from './rule.js'
import { fits } from './shape/compile-shape.js'
import { Evaluation, type WorkLimits } from './work/evaluation.js'

/** The rule language as data: what a rule may contain, each with a description and an example. */
export interface Vocabulary {
  eventTypes: readonly EventTypeDefinition[]
  /** The types of events that nobody can send. */
  reservedTypes: readonly EventTypeDefinition[]
  operators: ReturnType<typeof describeOperator>[]
  /** The conditions on lists. */
  quantifiers: readonly QuantifierDefinition[]
  filters: ReturnType<typeof describeFilter>[]
  actions: ReturnType<typeof describeAction>[]
  /** The fields of every action beside `type` and `config`. */
  actionFields: { name: string; schema: object }[]
  limits: Limit[]
}

export function describeVocabulary(limits: WorkLimits): Vocabulary {
  return {
    eventTypes: eventTypeDefinitions,
    reservedTypes: reservedTypeDefinitions,
    operators: operators.map(describeOperator),
    quantifiers: quantifierDefinitions,
    filters: filterDefinitions.map(describeFilter),
    actions: actionDefinitions.map((definition) => describeAction(definition)),
    actionFields: Object.entries(actionFields).map(([name, schema]) => ({
      name,
      schema: withoutReference(schema),
    })),
    limits: listLimits(limits),
  }
}

function describeOperator(operator: Operator) {
  const { name, aliases, description, compares, value, example, compile, compareTwo } = operator
  return {
    name,
    aliases,
    description,
    /** null: the operator takes no value. */
    value: value ?? null,
    compares,
    /** Whether `value` may be another field: `{ "field": "limit" }`. */
    comparesFields: compareTwo !== undefined,
    whenMissing: compile(example.value)(undefined, new Evaluation(0)),
    example,
  }
}

function describeFilter({ name, description, example }: (typeof filterDefinitions)[number]) {
  return { name, description, example }
}

function describeAction({ type, description, config, example }: ActionDefinition) {
  const placeholders = Object.entries(config.properties)
    .filter(([, schema]) => takesPlaceholders(schema))
    .map(([name]) => name)
  return { type, description, config: withoutReferences(config), placeholders, example }
}

/** Whether the value may be, or contain, any text: then it may contain a placeholder. */
function takesPlaceholders(schema: object): boolean {
  const text = '{{field}}'
  return fits(schema, text) || fits(schema, { name: text })
}

function withoutReferences(config: TObject): TObject {
  return JSON.parse(JSON.stringify(config), (_key, value) =>
    value?.$ref === undefined ? value : withoutReference(value),
  )
}

/** Outside of an OpenAPI document a reference leads nowhere. */
function withoutReference(schema: object): object {
  const { $ref, ...rest } = schema as { $ref?: string }
  return $ref === undefined ? rest : { title: $ref.replace('#', ''), type: 'object', ...rest }
}
