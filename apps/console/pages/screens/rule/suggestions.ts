import type { SeenPath } from '../../logic/paths.js'
import { show } from '../../logic/show.js'
import type { Option } from '../../parts/combobox.js'
import type { Fields } from './use-fields.js'

/** What helps to fill in a condition: the fields that events have, and what was in them. */
export interface Suggestions {
  fields: readonly Option[]
  valuesOf: (field: string) => readonly unknown[]
  exampleOf: (field: string) => unknown
  /** Values of each kind that events have there. */
  tellingOf: (field: string) => readonly unknown[]
}

/** From the survey of many events, and until it is known from the samples. */
export function suggest(fields: Fields | undefined, paths: readonly SeenPath[]): Suggestions {
  const surveyed = new Set(fields?.options.map(({ value }) => value))
  const sampled = paths
    .filter(({ path }) => !surveyed.has(path))
    .map(({ path, kind, example }) => ({ value: path, hint: `${kind}, ${show(example)}` }))
  const examples = new Map(paths.map(({ path, example }) => [path, example]))
  return {
    fields: [...(fields?.options ?? []), ...sampled],
    valuesOf: (field) => fields?.valuesOf(field) ?? [],
    exampleOf: (field) => examples.get(field),
    tellingOf: (field) => fields?.tellingOf(field) ?? (examples.has(field) ? [examples.get(field)] : []),
  }
}
