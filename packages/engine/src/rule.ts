import { type Static, Type } from 'typebox'
import { actionDefinitions, type KnownAction } from './actions/index.js'
import { Hours } from './hours/hours.js'
import { operators } from './operators/index.js'
import type { Operator } from './operators/operator.js'
import { type Quantifier, quantifiers } from './operators/quantifiers.js'
import { recordedName, recordedNameError } from './results/recorded.js'
import { Retry } from './results/retry.js'
import { maxPathLength } from './values/path.js'

export const maxActions = 20
/** In one rule: its conditions, and the `when` of its actions. */
export const maxClauses = 50
export const maxNesting = 8
const listPath = 'Path of the list in the event data, such as items or order.lines'
/** Of all patterns of one rule together: to compile this many takes less than 50 ms. */
export const maxPatternSteps = 5_000

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

// Written beside its schema, since no type can be derived from a recursive one.
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
const listSchemas: Record<Quantifier, object> = {
  some: branchSchema('SomeCondition', 'True if at least one item of the list fulfils `that`', {
    some: pathSchema(listPath),
    that: That,
  }),
  every: branchSchema('EveryCondition', 'True if the list has items and all of them fulfil `that`', {
    every: pathSchema(listPath),
    that: That,
  }),
  none: branchSchema(
    'NoneCondition',
    'True if no item of the list fulfils `that`, also if there is no list',
    {
      none: pathSchema(listPath),
      that: That,
    },
  ),
  count: branchSchema(
    'CountCondition',
    'Compares the number of items that fulfil `that`, or of all items. Without a list it is 0.',
    {
      count: pathSchema(listPath),
      that: That,
      operator: Type.Enum(countOperators.flatMap(({ name, aliases }) => [name, ...aliases])),
      value: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
    },
    ['count', 'operator', 'value'],
  ),
}

/** A condition is of the kind of which it has the first required field, or else a clause; the operator picks the schema of a clause (compileShape). */
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
  anyOf: [
    branchSchema('AllGroup', 'True if all of the conditions are true', { all: conditionList(1) }),
    branchSchema('AnyGroup', 'True if at least one of the conditions is true', { any: conditionList(1) }),
    branchSchema('NotGroup', 'True if the condition is false', { not: ConditionRef }),
    ...quantifiers.map((quantifier) => listSchemas[quantifier]),
    branchSchema(
      'TimeCondition',
      'True within these hours: of the moment at which the event was accepted, and in `when` of the moment of the action',
      { time: Hours },
    ),
    {
      title: 'Clause',
      description: 'Compares one field of the event data. GET /api/vocabulary describes each operator.',
      anyOf: clauseSchemas(),
    },
  ],
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

export type Action = KnownAction extends infer Known ? ActionOf<Known> : never
export const Action = Type.Unsafe<Action>({
  title: 'Action',
  discriminator: {
    propertyName: 'type',
    mapping: Object.fromEntries(
      actionDefinitions.map(({ type }) => [type, `#/components/schemas/${titleOf(type)}`]),
    ),
  },
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

function branchSchema(
  title: string,
  description: string,
  properties: Record<string, object>,
  required = Object.keys(properties),
): object {
  return { type: 'object', required, title, description, properties, additionalProperties: false }
}

/** Operators whose values have one schema share its title. */
function clauseSchemas(): object[] {
  const field = pathSchema('Path into the event data, such as score or lead.tags[0]')
  const byTitle = new Map<string, Operator[]>()
  for (const operator of operators) {
    const { title = 'Unary' } = (operator.value ?? {}) as { title?: string }
    byTitle.set(title, [...(byTitle.get(title) ?? []), operator])
  }
  return [...byTitle].map(([title, alike]) => {
    const value = valueSchema(alike[0])
    return {
      title: `${title}Clause`,
      type: 'object',
      properties: {
        field,
        operator: Type.Enum(alike.flatMap(({ name, aliases }) => [name, ...aliases])),
        ...(value && { value }),
      },
      required: ['field', 'operator', ...(value ? ['value'] : [])],
      additionalProperties: false,
    }
  })
}

/** A constant; with some operators also another value of the event. */
function valueSchema({ value, compareTwo }: Partial<Operator> = {}): object | undefined {
  const { title: _, ...constant } = (value ?? {}) as { title?: string }
  if (value === undefined || compareTwo === undefined) return value && constant
  return {
    anyOf: [
      branchSchema(
        'RootReference',
        'Another value of the event: within a condition on a list, this path begins at the event data',
        { root: pathSchema('Path into the event data') },
      ),
      branchSchema('FieldReference', 'Another value of the event, or of the item of a list', {
        field: pathSchema('Path of the other value, such as limit'),
      }),
      constant,
    ],
  }
}

function actionSchema<Known extends KnownAction>(definition: Known) {
  const { name, ...others } = actionFields
  const { type, config } = definition
  return Type.Unsafe<ActionOf<Known>>({
    title: titleOf(type),
    type: 'object',
    properties: { type: Type.Literal(type), name, config, ...others },
    required: ['config', 'type'],
    additionalProperties: false,
  })
}

/** Names SEND_EMAIL SendEmailAction. */
function titleOf(type: string): string {
  const words = type.split('_').map((word) => word.charAt(0) + word.slice(1).toLowerCase())
  return `${words.join('')}Action`
}

type ActionOf<Known> = Known extends KnownAction
  ? Static<
      Type.TObject<{ type: Type.TLiteral<Known['type']>; config: Known['config'] } & typeof actionFields>
    >
  : never
