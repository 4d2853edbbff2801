import {
  type Condition,
  compilePath,
  findRoot,
  findSimilar,
  listConditionPaths,
  listConfigUses,
  listPaths,
  listRootPaths,
  type RuleDefinition,
  readDeclared,
  readPath,
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

/** The paths of clauses, and of placeholders, into the event. */
function listFields({ conditions, actions }: RuleDefinition): Set<string> {
  const declared = readDeclared(actions)
  // The fields of items are none of the event.
  const pathsOf = (condition: Condition) => listConditionPaths(condition, '').map(({ path }) => path)
  const rootsOf = (where: object[]) =>
    where.flatMap((condition) => listRootPaths(condition as Condition, '').map(({ path }) => path))
  const paths = [
    ...conditions.flatMap(pathsOf),
    ...actions.flatMap(({ when, ...action }) => [
      ...(when ? pathsOf(when) : []),
      ...(action.type === 'EMIT_EVENT' ? rootsOf(action.config.where ?? []) : []),
      ...listConfigUses(action.config, '').flatMap(({ reads }) => reads),
    ]),
  ]
  return new Set(paths.filter((path) => findRoot(declared, path) === undefined))
}
