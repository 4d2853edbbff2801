import { toNumber } from '../values/comparison.js'
import { compilePath, type Path, parsePath, readPath } from '../values/path.js'

/** A filter's argument: bare, or without its quotes. */
export interface Argument {
  text: string
  isQuoted: boolean
}

/** What the template does for its filters. */
export interface Filtering {
  /** Takes a predicate about the value, such as "is no date". */
  warn(message: string): void
  /** Writes a value as text, all of which the filter reads: it is charged. */
  write(value: unknown): string
  /** Charges units of work beyond that. */
  charge(units: number): void
  /** What the paths of arguments are read from. */
  readonly data: unknown
}

/** Converts a value. What it returns is charged. */
export type Filter = (value: unknown, filtering: Filtering) => unknown

/** Compiles a filter, or describes what is wrong with its argument. */
export type FilterCompiler = (argument: Argument | undefined) => Filter | string

export interface FilterDefinition {
  readonly name: string
  /** What it makes of a value, for the author of a rule. */
  readonly description: string
  /** A template, data, and the value that it renders. A test checks it. */
  readonly example: { readonly template: string; readonly data: object; readonly output: unknown }
  /** Whether an argument without quotes that is no literal is a field of the data. */
  readonly takesField?: boolean
  readonly compile: FilterCompiler
}

/** The field that an argument without quotes names. Undefined if it is a literal. */
export function fieldOf({ text, isQuoted }: Argument): string | undefined {
  return isQuoted || readLiteral(text) !== undefined ? undefined : text
}

/** Bare true, false, null and numbers are literals, so that a lone placeholder keeps its type with a default, too. */
export function readLiteral(text: string): number | boolean | null | undefined {
  if (text === 'null') return null
  if (text === 'true' || text === 'false') return text === 'true'
  const number = toNumber(text)
  return Number.isNaN(number) ? undefined : number
}

/** An argument: the same for all data, or what a field of the data has. */
export interface Operand {
  /** Absent if it is the same for all data. */
  readonly field?: string
  read(data: unknown): unknown
}

/** Compiles an argument. Undefined where it is neither a literal nor a path. */
export function compileOperand(argument: Argument): Operand | undefined {
  const field = fieldOf(argument)
  if (field === undefined) {
    const literal = argument.isQuoted ? argument.text : readLiteral(argument.text)
    return { read: () => literal }
  }
  if (!parsePath(field)) return undefined
  const path: Path = compilePath(field)
  return { field, read: (data) => readPath(path, data) }
}

export function isNothing(value: unknown): boolean {
  return value === undefined || value === null
}
