import type { Suggestions } from '../../logic/editing/suggest-items.js'
import type { SeenPath } from '../../logic/paths.js'
import { show } from '../../logic/show.js'
import type { Fields } from './use-fields.js'

/** From the survey of many events, and until it is known from the samples. */
export function suggest(fields: Fields | undefined, paths: readonly SeenPath[]): Suggestions {
  const surveyed = new Set(fields?.options.map(({ value }) => value))
  const sampled = paths
    .filter(({ path }) => !surveyed.has(path))
    .map(({ path, kind, example }) => ({ value: path, hint: `${kind}, ${show(example)}` }))
  const examples = new Map(paths.map(({ path, example }) => [path, example]))
  const options = [...(fields?.options ?? []), ...sampled]
  const tellingOf = (field: string) =>
    fields?.tellingOf(field) ?? (examples.has(field) ? [examples.get(field)] : [])
  return {
    fields: options,
    lists: options.filter(({ value }) => tellingOf(value).some(Array.isArray)),
    valuesOf: (field) => fields?.valuesOf(field) ?? [],
    exampleOf: (field) => examples.get(field),
    tellingOf,
  }
}
