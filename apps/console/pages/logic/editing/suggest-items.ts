/** A field that is offered, and what helps to choose it. */
interface Choice {
  value: string
  hint?: string
}

/** What helps to fill in a condition: the fields that events have, and what was in them. */
export interface Suggestions {
  fields: readonly Choice[]
  /** The fields that are lists. */
  lists: readonly Choice[]
  valuesOf: (field: string) => readonly unknown[]
  exampleOf: (field: string) => unknown
  /** Values of each kind that events have there. */
  tellingOf: (field: string) => readonly unknown[]
  /** Of the event, if the paths begin at an item of a list. */
  event?: Suggestions
}

/** The item itself, where paths begin at an item. */
const itself = '.'

/** For conditions on the items of a list. The first item stands for all. */
export function suggestItems(event: Suggestions, list: string): Suggestions {
  const first = `${list}[0]`
  const inEvent = (path: string) => (path === itself ? first : `${first}.${path}`)
  const fields = event.fields.flatMap(({ value, ...choice }) =>
    value.startsWith(`${first}.`) ? [{ ...choice, value: value.slice(first.length + 1) }] : [],
  )
  return {
    fields: fields.length > 0 ? fields : [{ value: itself, hint: 'the item itself' }],
    lists: [],
    // The frequent values of a list are those of its items.
    valuesOf: (path) => event.valuesOf(path === itself ? list : inEvent(path)),
    exampleOf: (path) => event.exampleOf(inEvent(path)),
    tellingOf: (path) => {
      const telling = event.tellingOf(inEvent(path))
      return telling.length === 0 && path === itself ? event.valuesOf(list) : telling
    },
    event,
  }
}

/** For placeholders that are filled once for each item of a list: `{{item.sku}}`. */
export function suggestWithItem(event: Suggestions, list: string): Suggestions {
  const items = suggestItems(event, list).fields.map(({ value, ...choice }) => ({
    ...choice,
    value: value === itself ? 'item' : `item.${value}`,
  }))
  return { ...event, fields: [...items, ...event.fields] }
}
