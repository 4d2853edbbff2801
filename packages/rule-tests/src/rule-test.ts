import { EventType, givenFields } from '@automation/engine'
import { Type } from 'typebox'

export const maxTests = 5_000

const TestEvent = Type.Object(
  {
    type: EventType,
    /** Default: the moment of the event before, or the first moment of 2026. */
    at: Type.Optional(
      Type.String({ minLength: 1, maxLength: 40, description: 'ISO 8601 date or date-time with its zone' }),
    ),
    data: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })),
    for: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          'Of a tick (type SCHEDULE): the name of the rule whose schedule it is. Default: each rule with a schedule',
      }),
    ),
  },
  { additionalProperties: false },
)
export type TestEvent = Type.Static<typeof TestEvent>

const ExpectedAction = Type.Object(
  {
    type: Type.String({ minLength: 1 }),
    config: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
    ),
  },
  { additionalProperties: false },
)
export type ExpectedAction = Type.Static<typeof ExpectedAction>

/** Of one rule: the actions that it does, the number of its executions, or `no`. */
const Expected = Type.Unsafe<ExpectedAction[] | number | 'no' | false>({
  anyOf: [
    Type.Array(ExpectedAction, { minItems: 1, maxItems: 200 }),
    Type.Integer({ minimum: 0, maximum: 1_000 }),
    { enum: ['no', false] },
  ],
})
export type Expected = Type.Static<typeof Expected>

const Expectations = Type.Record(Type.String(), Expected)

/** A test of rules: events, and what the rules do. */
export const RuleTest = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200 }),
    event: Type.Optional(TestEvent),
    events: Type.Optional(Type.Array(TestEvent, { minItems: 1, maxItems: 1_000 })),
    ...givenFields,
    expect: Type.Optional(Expectations),
    expectOnly: Type.Optional(Expectations),
  },
  { additionalProperties: false },
)
export type RuleTest = Type.Static<typeof RuleTest>
