import { type Static, type TSchema, Type } from 'typebox'
import { toNumber } from './comparison.js'
import type { Judging } from './judging.js'
import { parseTimestamp } from './timestamp.js'

/** Judges one value of the event data, undefined when missing. One whose work grows with the value charges it to the judging. */
export type Test = (actual: unknown, judging: Judging) => boolean

export interface Operator {
  readonly name: string
  /** Other spellings that a rule may use; it is stored under the name. */
  readonly aliases: readonly string[]
  /** The schema of the clause's `value`; an operator without one refuses a value. */
  readonly value?: TSchema
  /** Says what is wrong with a value that fits the schema. */
  findFault?(value: unknown): string | undefined
  /** The work of one character, where the value is a pattern. */
  patternSteps?(value: unknown): number
  /** Called once per rule, with a value that has no fault. The test is false on a missing or mismatched value. */
  compile(value: unknown): Test
  /** Where the test holds for nothing but what equals one of a few scalars: those. rule-index.ts finds rules by them. */
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

/** Names an operator by its positive meaning; its test must be false on undefined unless missing is what it asks for. */
export function define<Value extends TSchema>(definition: Definition<Value>): Operator {
  return { aliases: [], ...definition }
}

/** The exact opposite, so true where the positive finds the value missing or mismatched. */
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
