import { showText } from '../texts/show-text.js'
import { findDeadEnd } from '../values/dead-end.js'
import { type Path, readOrMiss } from '../values/path.js'
import { isOver, type Rendering, warnOnce } from './fill-placeholder.js'

/** A list that is read item by item. */
export interface ListSource {
  /** Its path as written. */
  readonly name: string
  readonly path: Path
}

/**
 * Finds the list. What is no list has no items, with a warning.
 *
 * @param reader what reads it, such as forEach
 */
export function findItems(
  { name, path }: ListSource,
  data: unknown,
  rendering: Rendering,
  reader: string,
): readonly unknown[] {
  const value = readOrMiss(path, data)
  if (Array.isArray(value)) return value
  const end = value === undefined ? findDeadEnd(path, data) : undefined
  const state = value === undefined ? 'missing' : showText(value)
  warnOnce(
    rendering,
    `${name} is ${state}${end === undefined ? '' : `, since ${end}`}: ${reader} reads lists`,
  )
  return []
}

/** Units of work to copy a field, and to fill a placeholder. */
const workPerField = 4
const workPerPlaceholder = 4

/** What is rendered for each item. */
export interface Round {
  readonly placeholders: number
  /** Characters that it writes beside its placeholders. */
  readonly length: number
}

/**
 * Renders something for each item, in which `item` is the item and everything else the data. Ends where the rendered config must not be
 * used: what a round writes is counted, and its work charged, before it is done.
 */
export function forEachItem(
  items: readonly unknown[],
  { placeholders, length }: Round,
  data: unknown,
  rendering: Rendering,
  render: (scope: object, index: number) => void,
): void {
  if (items.length === 0 || isOver(rendering)) return
  // One object for all rounds: to copy thousands of fields for each would take long. A spread defines keys, so `__proto__` is an ordinary one.
  const scope: { item?: unknown } = { ...(data as object) }
  rendering.evaluation?.charge(Object.keys(scope).length * workPerField)
  for (const [index, item] of items.entries()) {
    rendering.size += length
    rendering.evaluation?.charge(1 + placeholders * workPerPlaceholder + length / 50)
    if (isOver(rendering)) return
    scope.item = item
    render(scope, index)
  }
}
