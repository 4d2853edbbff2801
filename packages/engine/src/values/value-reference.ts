import { compilePath, type Path } from './path.js'

/** The value of a clause that compares with another value of the event, instead of a constant. */
export type ValueReference = { field: string } | { root: string }

export function isReference(value: unknown): value is ValueReference & Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `root` begins at the data of the event, also within a list. */
export function readReference(reference: ValueReference): { text: string; isRoot: boolean } {
  return 'root' in reference
    ? { text: reference.root, isRoot: true }
    : { text: reference.field, isRoot: false }
}

/** In a list, `.` is the item itself. */
export const itemItself = '.'

/** Compiles a path as it stands in a condition on an item. */
export function compileItemPath(text: string): Path {
  return text === itemItself ? [] : compilePath(text)
}
