import type { Static, TSchema } from 'typebox'
import type { Evaluation } from '../work/evaluation.js'

/** Evaluates one value of the event data, undefined when missing. One whose work grows with the value charges it to the evaluation. */
export type Test = (actual: unknown, evaluation: Evaluation) => boolean

/** The kinds of JSON values. */
export const kinds = ['string', 'number', 'boolean', 'null', 'array', 'object'] as const
export type Kind = (typeof kinds)[number]

/** A value of a clause, values of the data for which it holds, and others for which it does not. A test checks them. */
export interface OperatorExample {
  readonly value?: unknown
  /** The moment of evaluation, where it matters. */
  readonly at?: string
  readonly holds: readonly unknown[]
  readonly fails: readonly unknown[]
}

/** How far data is from fulfilling a clause: as a number, or as a time. NaN for data that cannot be measured. */
export type Distance = { distance: number } | { distanceMs: number }

export interface Operator {
  readonly name: string
  /** Other spellings that a rule may use. A rule is stored with the name. */
  readonly aliases: readonly string[]
  /** What has to be so for a clause to hold, for the author of a rule. */
  readonly description: string
  /** The kinds of data that it looks at. A value of another kind counts as missing. */
  readonly compares: readonly Kind[]
  /** What it reads, for the author of a rule whose data is something else. None for an operator that asks what is there. */
  readonly reads?: string
  readonly example: OperatorExample
  /** The operator of which it is the exact opposite. */
  readonly opposite?: string
  /** The schema of the clause's `value`; an operator without one refuses a value. Its title names the clause in OpenAPI. */
  readonly value?: TSchema
  /** Finds a fault in a value that fits the schema. */
  findFault?(value: unknown): string | undefined
  /** The work of one character, where the value is a pattern. */
  patternSteps?(value: unknown): number
  /** Says why it cannot read data of a kind that it looks at. Such data counts as missing. */
  findUnread?(actual: unknown, value: unknown): string | undefined
  /** Says how it read data that does not show it. */
  describeReading?(actual: unknown): string | undefined
  /** Says how data differs from a value that looks like it. */
  describeDifference?(actual: unknown, value: unknown): string | undefined
  measure?(actual: unknown, value: unknown, now: number): Distance
  /** Called once per rule, with a value that has no fault. The test is false on a missing or mismatched value. */
  compile(value: unknown): Test
  /** Compares two values of the event. An operator without it compares with a constant only. False if it does not look at one of them. */
  compareTwo?(left: unknown, right: unknown, evaluation: Evaluation): boolean
  /** What it costs to read a text of so many characters, in units, if that is more than to look at it. */
  textUnits?(length: number): number
  /** The scalars, if the test holds only for data that equals one of them. rule-index.ts finds rules by them. */
  findWanted?(value: unknown): readonly unknown[]
}

interface Definition<Value extends TSchema>
  extends Pick<
    Operator,
    'name' | 'description' | 'compares' | 'reads' | 'example' | 'describeReading' | 'compareTwo' | 'textUnits'
  > {
  aliases?: string[]
  value?: Value
  findFault?(value: Static<Value>): string | undefined
  patternSteps?(value: Static<Value>): number
  findUnread?(actual: unknown, value: Static<Value>): string | undefined
  describeDifference?(actual: unknown, value: Static<Value>): string | undefined
  measure?(actual: unknown, value: Static<Value>, now: number): Distance
  compile(value: Static<Value>): Test
  findWanted?(value: Static<Value>): readonly unknown[]
}

/** Defines an operator by its positive meaning. Its test must be false on undefined, unless it tests for missing data. */
export function define<Value extends TSchema>(definition: Definition<Value>): Operator {
  return { aliases: [], ...definition }
}

/** The exact opposite, so it is true for missing data and data of another type. */
export function negate(
  { findWanted: _, measure: __, ...positive }: Operator,
  opposite: { name: string; aliases?: string[]; description: string } & Pick<Operator, 'measure'>,
): Operator {
  const { holds, fails } = positive.example
  const { compareTwo } = positive
  return {
    ...positive,
    aliases: [],
    ...opposite,
    opposite: positive.name,
    example: { ...positive.example, holds: fails, fails: holds },
    compile(value) {
      const holds = positive.compile(value)
      return (actual, evaluation) => !holds(actual, evaluation)
    },
    ...(compareTwo && {
      compareTwo: (left, right, evaluation) => !compareTwo(left, right, evaluation),
    }),
  }
}
