import { type Static, type TSchema, Type } from 'typebox'
import { actionDefinitions, type KnownAction } from './actions/index.js'
import { Hours } from './hours/hours.js'
import { operators } from './operators/index.js'
import type { Operator } from './operators/operator.js'
import { maxPathLength } from './path.js'
import { type Quantifier, quantifiers } from './quantifiers.js'
import { recordedName, recordedNameError } from './recorded.js'
import { Retry } from './retry.js'

export const maxActions = 20
/** In one rule: its conditions, and the `when` of its actions. */
export const maxClauses = 50
export const maxNesting = 8
const listPath = 'Path of the list in the event data, such as items or order.lines'
/** Of all patterns of one rule together: to compile this many takes less than 50 ms. */
export const maxPatternSteps = 5_000
/** In the configs of one rule together. */
export const maxPlaceholders = 200

export const RuleName = Type.String({ minLength: 1, maxLength: 200 })
export const RuleDescription = Type.String({ maxLength: 2000 })

export interface Clause {
  field: string
  operator: string
  /** A constant, or with some operators a reference to another value of the event. */
  value?: unknown
}

export interface CountCondition {
  count: string
  that?: Condition[]
  operator: string
  value: number
}

/** A condition on the items of a list, whose path is the value of the quantifier. The paths of `that` begin at the item. */
export type ListCondition =
  | { some: string; that: Condition[] }
  | { every: string; that: Condition[] }
  | { none: string; that: Condition[] }
  | CountCondition

/** A condition on the moment of the evaluation: for an event, when it was accepted. */
export interface TimeCondition {
  time: Hours
}

// Written beside its schema, since no type can be derived from a recursive if/then/else.
export type Condition =
  | Clause
  | TimeCondition
  | ListCondition
  | { all: Condition[] }
  | { any: Condition[] }
  | { not: Condition }

const ConditionRef = Type.Unsafe<Condition>({ $ref: 'Condition#' })

function pathSchema(description: string) {
  return Type.String({ minLength: 1, maxLength: maxPathLength, description })
}

const That = Type.Array(ConditionRef, {
  minItems: 1,
  description:
    'All of them must be true for the same item. Their paths begin at the item; `.` is the item itself. Conditions on lists are not allowed here.',
})
/** What compares a number of items. */
export const countOperators = operators.filter(({ name }) =>
  /^(?:(?:not_)?equals|(?:greater|less)_than(?:_or_equal)?)$/.test(name),
)

/** The conditions on lists, by their quantifiers. */
const listSchemas: Record<Quantifier, TSchema> = {
  some: listSchema('some', 'SomeCondition', 'True if at least one item of the list fulfils `that`'),
  every: listSchema('every', 'EveryCondition', 'True if the list has items and all of them fulfil `that`'),
  none: listSchema(
    'none',
    'NoneCondition',
    'True if no item of the list fulfils `that`, also if there is no list',
  ),
  count: {
    title: 'CountCondition',
    description: 'Compares the number of items that fulfil `that`, or of all items. Without a list it is 0.',
    properties: {
      count: pathSchema(listPath),
      that: That,
      operator: Type.Enum(countOperators.flatMap(({ name, aliases }) => [name, ...aliases])),
      value: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
    },
    required: ['count', 'operator', 'value'],
    additionalProperties: false,
  },
}

/**
 * A clause or a group. The branches state no `type` of their own and the clause's operator picks its branch by
 * discriminator, so that each fault is reported once: nested `type`s and a plain `oneOf` would repeat it per branch.
 */
export const Condition = Type.Unsafe<Condition>({
  $id: 'Condition',
  description: 'A comparison of one field, or a condition group: all, any or not',
  examples: [
    { field: 'score', operator: 'greater_than', value: 80 },
    {
      any: [
        { field: 'country', operator: 'in', value: ['DE', 'AT'] },
        { field: 'vip', operator: 'is_true' },
      ],
    },
  ],
  type: 'object',
  if: { required: ['all'] },
  then: groupSchema('all', 'AllGroup', conditionList(1), 'True if all of the conditions are true'),
  else: {
    if: { required: ['any'] },
    then: groupSchema('any', 'AnyGroup', conditionList(1), 'True if at least one of the conditions is true'),
    else: {
      if: { required: ['not'] },
      then: groupSchema('not', 'NotGroup', ConditionRef, 'True if the condition is false'),
      else: quantifiers.reduceRight<object>(
        (others, quantifier) => ({
          if: { required: [quantifier] },
          then: listSchemas[quantifier],
          else: others,
        }),
        {
          if: { required: ['time'] },
          then: {
            title: 'TimeCondition',
            description:
              'True within these hours: of the moment at which the event was accepted, and in `when` of the moment of the action',
            properties: { time: Hours },
            additionalProperties: false,
          },
          else: {
            title: 'Clause',
            description: 'Compares one field of the event data. GET /api/vocabulary describes each operator.',
            // Unknown fields are reported here, so that they are reported also if the operator selects no branch.
            properties: {
              field: pathSchema('Path into the event data, such as score or lead.tags[0]'),
              operator: {},
              value: {},
            },
            required: ['field'],
            additionalProperties: false,
            discriminator: { propertyName: 'operator' },
            oneOf: operators.map(clauseSchema),
          },
        },
      ),
    },
  },
})

/** All of them must hold. An empty list holds. */
export const Conditions = conditionList(0)
export type Conditions = Static<typeof Conditions>

/** The fields of an action beside its type and config. */
export const actionFields = {
  name: Type.Optional(
    Type.String({
      pattern: recordedName,
      patternError: recordedNameError,
      description:
        'Name of the action, unique in its rule. Later actions read {{actions.NAME.outcome}} (success, failed, skipped or unknown) and {{actions.NAME.status}}, the HTTP status.',
    }),
  ),
  when: Type.Optional(
    Type.Unsafe<Condition>({
      $ref: 'Condition#',
      description:
        'The action is skipped unless this condition is true. It is evaluated right before the action.',
    }),
  ),
  continueOnError: Type.Optional(
    Type.Boolean({
      description:
        'Run the remaining actions even if this one fails. The execution is still reported as failed. Default: false.',
    }),
  ),
  timeoutMs: Type.Optional(
    Type.Integer({
      minimum: 100,
      maximum: 30_000,
      description: 'Timeout of one attempt of a call or an email. Default: 10000.',
    }),
  ),
  retry: Type.Optional(Retry),
  onUncertain: Type.Optional(
    Type.Enum(['retry', 'stop'], {
      description:
        'What to do if a worker crashes during the call, so that its outcome is unknown. retry: repeat the call with the same idempotency key. stop: mark the action as `unknown`. Default: retry.',
    }),
  ),
}

// As for a clause: constraints of all types are here and not in the branches, so that their faults are always reported.
export type Action = KnownAction extends infer Known ? ActionOf<Known> : never
export const Action = Type.Unsafe<Action>({
  title: 'Action',
  type: 'object',
  properties: {
    type: {},
    name: {},
    config: {},
    when: {},
    continueOnError: {},
    timeoutMs: {},
    retry: {},
    onUncertain: {},
  },
  required: ['config'],
  additionalProperties: false,
  discriminator: { propertyName: 'type' },
  oneOf: actionDefinitions.map((definition) => actionSchema(definition)),
})

export const Actions = Type.Array(Action, { minItems: 1, maxItems: maxActions })
export type Actions = Static<typeof Actions>

/** The part of a rule that the engine needs. */
export const RuleDefinition = Type.Object(
  { conditions: Conditions, actions: Actions },
  { additionalProperties: false },
)
export type RuleDefinition = Static<typeof RuleDefinition>

function conditionList(minItems: number) {
  return Type.Array(ConditionRef, { minItems })
}

function groupSchema(keyword: string, title: string, schema: TSchema, description: string): TSchema {
  return { title, description, properties: { [keyword]: schema }, additionalProperties: false }
}

function listSchema(quantifier: Quantifier, title: string, description: string): TSchema {
  return {
    title,
    description,
    properties: { [quantifier]: pathSchema(listPath), that: That },
    required: [quantifier, 'that'],
    additionalProperties: false,
  }
}

/** Operators whose values have one schema share its title. */
function clauseSchema(operator: Operator): TSchema {
  const { title, ...schema } = (operator.value ?? {}) as TSchema & { title?: string }
  const constant = operator.value ? schema : false
  const value = operator.compareTwo ? orReference(schema) : constant
  return {
    title: `${title ?? 'Unary'}Clause`,
    properties: { operator: Type.Enum([operator.name, ...operator.aliases]), value },
    required: ['operator', ...(value ? ['value'] : [])],
  }
}

/** A constant, or another value of the event. An `if`, so that a faulty one is reported once. */
function orReference(constant: object): object {
  return {
    if: { type: 'object', required: ['root'] },
    then: {
      title: 'RootReference',
      type: 'object',
      description:
        'Another value of the event: within a condition on a list, this path begins at the event data',
      properties: { root: pathSchema('Path into the event data') },
      additionalProperties: false,
    },
    else: {
      if: { type: 'object' },
      then: {
        title: 'FieldReference',
        type: 'object',
        description: 'Another value of the event, or of the item of a list',
        properties: { field: pathSchema('Path of the other value, such as limit') },
        required: ['field'],
        additionalProperties: false,
      },
      else: constant,
    },
  }
}

function actionSchema<Known extends KnownAction>(definition: Known) {
  return Type.Object(
    {
      type: Type.Literal(definition.type as Known['type']),
      config: definition.config as Known['config'],
      ...actionFields,
    },
    { required: ['type'] },
  )
}

type ActionOf<Known> = Known extends KnownAction ? Static<ReturnType<typeof actionSchema<Known>>> : never
