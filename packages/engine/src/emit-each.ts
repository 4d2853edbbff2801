import { maxEmitted } from './actions/emit-event.js'
import { compileJson } from './config-template.js'
import type { Rendering } from './fill-placeholder.js'
import { forEachItem, readList } from './item-scope.js'
import { compilePath, parsePath } from './path.js'
import { showText } from './show-text.js'
import type { Template } from './template.js'
import { maxRenderedLength } from './to-text.js'

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
  readonly data: Record<string, unknown> | string | undefined
}

/** Compiles a config that has forEach. One with a faulty path emits nothing: its config fails (findConfigFault). */
export function compileEach({ forEach, data }: EachConfig): RenderEach {
  if (!parsePath(forEach)) return () => []
  const source = { name: forEach, path: compilePath(forEach) }
  const template = compileJson(data, undefined, 'data')
  // What the author wrote is repeated for each item, too.
  const round = { placeholders: template.placeholders, length: JSON.stringify(data ?? null).length }
  return (event, rendering) => {
    const list = readList(source, event, rendering, 'forEach')
    if (list.length > maxEmitted) {
      rendering.fault ??= `config.forEach: ${forEach} has ${list.length} items, and an action emits at most ${maxEmitted} events`
      return []
    }
    const events: ItemEvent[] = []
    forEachItem(list, round, event, rendering, (scope, index) => {
      const rendered = renderData(template, scope, rendering, index)
      if (rendered !== undefined) events.push({ index, data: rendered })
    })
    return events
  }
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
