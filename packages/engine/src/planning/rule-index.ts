import type { Equality } from '../conditions/compiled-condition.js'
import { keyOf } from '../values/comparison.js'
import { compilePath, type Path, readOrMiss } from '../values/path.js'
import type { CompiledRule } from './compile-rule.js'

/** Finds the few of many rules that one event's data could match. */
export interface RuleIndex {
  /** Indexes in the list of rules, ascending. No other rule matches. The caller must not change the list. Never throws. */
  findCandidates(data: unknown): readonly number[]
}

/** An `in` with more values is not used: it excludes few events, and needs an entry for each value. */
const maxWanted = 32

/** The values that rules require at one path. */
interface Field {
  readonly path: Path
  /** The number of rules that require each value, by its key. */
  readonly demand: Map<unknown, number>
  totalDemand: number
  /** The rules that are indexed by this path, by the key of the required value. */
  readonly filed: Map<unknown, number[]>
}

/**
 * Indexes rules by their equalities. Each rule is indexed by one of them: the most selective one. A rule without
 * equalities is always a candidate. Candidates still have to be evaluated: the index only excludes rules.
 */
export function indexRules(rules: readonly Pick<CompiledRule, 'conditions'>[]): RuleIndex {
  const equalitiesOf = rules.map(listEqualities)
  const fields = surveyDemand(equalitiesOf)
  const always: number[] = []
  equalitiesOf.forEach((equalities, place) => {
    const sharpest = findSharpest(equalities, fields)
    if (sharpest === undefined) always.push(place)
    else fileRule(fields, sharpest, place)
  })
  const used = [...fields.values()].filter(({ filed }) => filed.size > 0)
  return {
    findCandidates(data) {
      let found: readonly number[] = always
      let merged: number[] | undefined
      for (const { path, filed } of used) {
        const places = filed.get(keyOf(readOrMiss(path, data)))
        if (places === undefined) continue
        if (found.length === 0) found = places
        else {
          merged ??= found.slice()
          for (const place of places) merged.push(place)
        }
      }
      return merged?.sort(ascending) ?? found
    },
  }
}

function listEqualities({ conditions }: Pick<CompiledRule, 'conditions'>): readonly Equality[] {
  const equalities: Equality[] = []
  for (const condition of conditions) {
    for (const equality of condition.equalities) {
      if (equality.wanted.length <= maxWanted) equalities.push(equality)
    }
  }
  return equalities
}

function surveyDemand(equalitiesOf: readonly (readonly Equality[])[]): Map<string, Field> {
  const fields = new Map<string, Field>()
  for (const equalities of equalitiesOf) {
    for (const { field: name, wanted } of equalities) {
      let field = fields.get(name)
      if (field === undefined) {
        field = { path: compilePath(name), demand: new Map(), totalDemand: 0, filed: new Map() }
        fields.set(name, field)
      }
      for (const value of wanted) {
        const key = keyOf(value)
        field.demand.set(key, (field.demand.get(key) ?? 0) + 1)
        field.totalDemand++
      }
    }
  }
  return fields
}

/** The estimate assumes that events have the values of the rules with the same frequency: nothing else is known. */
function findSharpest(
  equalities: readonly Equality[],
  fields: ReadonlyMap<string, Field>,
): Equality | undefined {
  let sharpest: Equality | undefined
  let leastShare = Number.POSITIVE_INFINITY
  for (const equality of equalities) {
    const { demand, totalDemand } = fields.get(equality.field) as Field
    let share = 0
    for (const value of equality.wanted) share += (demand.get(keyOf(value)) ?? 0) / totalDemand
    if (share < leastShare) {
      sharpest = equality
      leastShare = share
    }
  }
  return sharpest
}

function fileRule(fields: ReadonlyMap<string, Field>, { field, wanted }: Equality, place: number): void {
  const { filed } = fields.get(field) as Field
  for (const value of wanted) {
    const key = keyOf(value)
    const places = filed.get(key)
    if (places === undefined) filed.set(key, [place])
    // The rule is already there if an `in` contains both 1 and "1".
    else if (places.at(-1) !== place) places.push(place)
  }
}

function ascending(left: number, right: number): number {
  return left - right
}
