import { type Static, type TSchema, Type } from 'typebox'
import { toNumber } from './comparison.js'
import type { Judging } from './judging.js'
import { parseTimestamp } from './timestamp.js'

/** Judges one value of the event data, undefined when missing. One whose work grows with the value charges it to the judging. */
export type Test = (actual: unknown, judging: Judging) => boolean

export interface Operator {
  readonly name: string
  /** Other spellings that a rule may use. A rule is stored with the name. */
  readonly aliases: readonly string[]
  /** The schema of the clause's `value`; an operator without one refuses a value. */
  readonly value?: TSchema
  /** Finds a fault in a value that fits the schema. */
  findFault?(value: unknown): string | undefined
  /** The work of one character, where the value is a pattern. */
  patternSteps?(value: unknown): number
  /** Called once per rule, with a value that has no fault. The test is false on a missing or mismatched value. */
  compile(value: unknown): Test
  /** The scalars, if the test holds only for data that equals one of them. rule-index.ts finds rules by them. */
  findWanted?(value: unknown): readonly unknown[]
}

interface Definition<Value extends TSchema> {
  name: string
  aliases?: string[]
  value?: Value
  findFault?(value: Static<Value>): string | undefined
  patternSteps?(value: Static<Value>): number
  compile(value: Static<Value>): Test
  findWanted?(value: Static<Value>): readonly unknown[]
}

/** Defines an operator by its positive meaning. Its test must be false on undefined, unless it tests for missing data. */
export function define<Value extends TSchema>(definition: Definition<Value>): Operator {
  return { aliases: [], ...definition }
}

/** The exact opposite, so it is true for missing data and data of another type. */
export function negate(
  { findWanted: _, ...positive }: Operator,
  name: string,
  ...aliases: string[]
): Operator {
  return {
    ...positive,
    name,
    aliases,
    compile(value) {
      const holds = positive.compile(value)
      return (actual, judging) => !holds(actual, judging)
    },
  }
}

/** Compares numbers, also those that are written as text. */
export function compare(
  name: string,
  alias: string,
  holds: (actual: number, limit: number) => boolean,
): Operator {
  return define({
    name,
    aliases: [alias],
    value: Type.Number(),
    compile: (limit) => (actual) => holds(toNumber(actual), limit),
  })
}

/** Compares instants: ISO texts, or numbers as epoch milliseconds. */
export function compareTime(
  name: string,
  value: Type.TString,
  findFault: (text: string) => string | undefined,
  parse: (text: string) => number | undefined,
  holds: (actual: number, parsed: number, now: number) => boolean,
): Operator {
  return define({
    name,
    value,
    findFault,
    compile(text) {
      const parsed = parse(text) ?? Number.NaN
      return (actual, { now }) => holds(parseTimestamp(actual), parsed, now)
    },
  })
}
