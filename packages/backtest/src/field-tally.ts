import {
  type Condition,
  compilePath,
  findSimilar,
  isListCondition,
  isReference,
  listConfigUses,
  listLeaves,
  listPaths,
  type RuleDefinition,
  readList,
  readPath,
  readReference,
} from '@automation/engine'

export interface FieldCount {
  path: string
  present: number
  didYouMean: string | null
}

export interface SavedFields {
  present: number[]
  seen: string[]
  sampled: number
}

/** From so many of the first events the paths are collected that a missing field may have meant. */
const maxSampled = 100
const maxSeen = 500
/** A report names no more fields. */
const maxFields = 50

/** Counts for each field that a rule names the events that have it. */
export class FieldTally {
  readonly #fields: { path: string; steps: ReturnType<typeof compilePath> }[]
  readonly #present: number[]
  readonly #seen: Set<string>
  #sampled: number

  constructor(definition: RuleDefinition, saved?: SavedFields) {
    this.#fields = [...listFields(definition)]
      .slice(0, maxFields)
      .map((path) => ({ path, steps: compilePath(path) }))
    this.#present = this.#fields.map((_, index) => saved?.present[index] ?? 0)
    this.#seen = new Set(saved?.seen)
    this.#sampled = saved?.sampled ?? 0
  }

  add(data: unknown): void {
    for (const [index, { steps }] of this.#fields.entries())
      if (readPath(steps, data) !== undefined) this.#present[index] = (this.#present[index] ?? 0) + 1
    if (this.#sampled === maxSampled) return
    this.#sampled++
    for (const path of listPaths(data)) {
      if (this.#seen.size === maxSeen) return
      if (path.length <= 64) this.#seen.add(path)
    }
  }

  list(): FieldCount[] {
    return this.#fields.map(({ path }, index) => {
      const present = this.#present[index] as number
      return { path, present, didYouMean: present > 0 ? null : (findSimilar(path, this.#seen) ?? null) }
    })
  }

  save(): SavedFields {
    return { present: this.#present, seen: [...this.#seen], sampled: this.#sampled }
  }
}

/** The paths of clauses, and of placeholders. */
function listFields({ conditions, actions }: RuleDefinition): Set<string> {
  const paths = new Set<string>()
  const visitCondition = (condition: Condition): void => {
    for (const { leaf } of listLeaves(condition, '')) {
      // The fields of items are none of the event.
      if (isListCondition(leaf)) paths.add(readList(leaf).path)
      else {
        paths.add(leaf.field)
        if (isReference(leaf.value)) paths.add(readReference(leaf.value).text)
      }
    }
  }
  for (const condition of conditions) visitCondition(condition)
  for (const { when, config } of actions) {
    if (when) visitCondition(when)
    for (const { reads } of listConfigUses(config, '')) for (const read of reads) paths.add(read)
  }
  return paths
}
