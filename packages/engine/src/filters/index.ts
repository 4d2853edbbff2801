import type { FilterCompiler, FilterDefinition } from './filter.js'
import { listFilters } from './lists.js'
import { numberFilters } from './numbers.js'
import { textFilters } from './texts.js'
import { timeFilters } from './times.js'

/** All filters of placeholders. A new one needs one entry in a file beside: templates, vocabulary and docs/reference/rules.md follow. */
export const filterDefinitions: readonly FilterDefinition[] = [
  ...textFilters,
  ...numberFilters,
  ...timeFilters,
  ...listFilters,
]

export const filters: ReadonlyMap<string, FilterCompiler> = new Map(
  filterDefinitions.map(({ name, compile }) => [name, compile]),
)

/** The filters whose argument may be a field of the data. */
export const fieldFilters: ReadonlySet<string> = new Set(
  filterDefinitions.filter(({ takesField }) => takesField).map(({ name }) => name),
)
