import { maxEmitted } from '../actions/emit-event.js'
import { compileItemConditions } from '../conditions/conditions.js'
import { type ItemConditions, unitsPerItem } from '../conditions/list-condition.js'
import { compileJson } from '../configs/config-template.js'
import type { Condition } from '../rule.js'
import type { Rendering } from '../templates/fill-placeholder.js'
import { findItems, forEachItem } from '../templates/item-scope.js'
import type { Template } from '../templates/template.js'
import { showText } from '../texts/show-text.js'
import { compilePath, parsePath } from '../values/path.js'
import { maxRenderedLength } from '../values/to-text.js'

/** An event for an item of a list. */
export interface ItemEvent {
  /** Of the item in the whole list, from 0. */
  readonly index: number
  readonly data: object
}

/** Renders the events of an action with forEach. What makes it fail is noted in `rendering`; then none of them must be emitted. */
export type RenderEach = (data: unknown, rendering: Rendering) => readonly ItemEvent[]

export interface EachConfig {
  readonly forEach: string
  readonly where: readonly object[] | undefined
  readonly data: Record<string, unknown> | string | undefined
}

/**
 * Compiles a config that has forEach. One with a faulty path emits nothing: its config fails (findConfigFault).
 *
 * @throws Error for faults of `where`, as for those of all conditions
 */
export function compileEach({ forEach, where, data }: EachConfig): RenderEach {
  const conditions = where && compileItemConditions(where as readonly Condition[])
  if (!parsePath(forEach)) return () => []
  const source = { name: forEach, path: compilePath(forEach) }
  const template = compileJson(data, undefined, 'data')
  // What the author wrote is repeated for each item, too.
  const round = { placeholders: template.placeholders, length: JSON.stringify(data ?? null).length }
  return (event, rendering) => {
    const list = findItems(source, event, rendering, 'forEach')
    const indexes = chooseItems(list, conditions, event, rendering)
    if (indexes.length > maxEmitted) {
      const count = conditions ? `more than ${maxEmitted} items that fulfil where` : `${list.length} items`
      rendering.fault ??= `config.forEach: ${forEach} has ${count}, and an action emits at most ${maxEmitted} events`
      return []
    }
    const events: ItemEvent[] = []
    const items = indexes.map((index) => list[index])
    forEachItem(items, round, event, rendering, (scope, n) => {
      const index = indexes[n] as number
      const rendered = renderData(template, scope, rendering, index)
      if (rendered !== undefined) events.push({ index, data: rendered })
    })
    return events
  }
}

/** @returns the indexes of the items that are to have an event, as far as one more than the limit */
function chooseItems(
  list: readonly unknown[],
  conditions: ItemConditions | undefined,
  event: unknown,
  { evaluation }: Rendering,
): number[] {
  const chosen: number[] = []
  for (let index = 0; index < list.length && chosen.length <= maxEmitted; index++) {
    if (conditions !== undefined && evaluation !== undefined) {
      if (!evaluation.spend(unitsPerItem)) return []
      if (!conditions.hold(list[index], event, evaluation)) continue
    }
    chosen.push(index)
  }
  return chosen
}

function renderData(
  template: Template,
  scope: object,
  rendering: Rendering,
  index: number,
): object | undefined {
  const data = template.render(scope, rendering)
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data
  if (rendering.size <= maxRenderedLength)
    rendering.fault ??= `config.data must be an object, and is ${showText(data)} for item ${index} of the list`
  return undefined
}
