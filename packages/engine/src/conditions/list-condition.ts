import { findOperator } from '../operators/index.js'
import type { ListTrace } from '../results/outcome.js'
import type { CountCondition, ListCondition } from '../rule.js'
import { findDeadEnd } from '../values/dead-end.js'
import { compilePath, type Path, readOrMiss } from '../values/path.js'
import type { Evaluation } from '../work/evaluation.js'
import type { CompiledCondition } from './compiled-condition.js'
import { explainAll } from './condition-groups.js'
import { isCount, readList } from './condition-parts.js'
import { nameKind } from './explain-value.js'

/** Conditions that are evaluated for an item of a list. All of them must hold for the same item. */
export interface ItemConditions {
  /** How many clauses there are in it. */
  readonly clauses: number
  /** @param root the data of the event */
  hold(item: unknown, root: unknown, evaluation: Evaluation): boolean
  /** How many of them hold, each by itself; all of them: undefined. */
  countHeld(item: unknown, root: unknown, evaluation: Evaluation): number | undefined
  explain(item: unknown, root: unknown, evaluation: Evaluation): ListTrace['conditions'] & object
}

/** @param children compiled for items: their paths begin there */
export function joinItemConditions(children: readonly CompiledCondition[], clauses: number): ItemConditions {
  return {
    clauses,
    hold(item, root, evaluation) {
      evaluation.root = root
      for (const child of children) if (!child.holds(item, evaluation)) return false
      return true
    },
    countHeld(item, root, evaluation) {
      evaluation.root = root
      let count = 0
      for (const child of children) if (child.holds(item, evaluation)) count++
      return count === children.length ? undefined : count
    },
    explain(item, root, evaluation) {
      evaluation.root = root
      return explainAll('all', children, item, evaluation, evaluation).children
    },
  }
}

/** To look at an item costs so much, beside its clauses. */
export const unitsPerItem = 1

/** Evaluates a list: `decide` says which item decided, and the result. */
interface Decision {
  readonly verdict: boolean
  /** Index of the item that decided; -1 if it needed all of them. */
  readonly index: number
}

type Decide = (items: readonly unknown[], root: unknown, evaluation: Evaluation) => Decision

export function compileList(condition: ListCondition, items: ItemConditions | undefined): CompiledCondition {
  const path = compilePath(readList(condition).path)
  const evaluate = isCount(condition)
    ? compileCount(condition, items)
    : compileQuantifier(condition, items as ItemConditions)
  const decide = (data: unknown, evaluation: Evaluation) => {
    try {
      return evaluate(readItems(path, data), data, evaluation)
    } catch {
      // As in a clause: only data that never was JSON comes here.
      return evaluate(none, data, evaluation)
    }
  }
  return {
    holds: (data, evaluation) => decide(data, evaluation).verdict,
    explain(data, evaluation, spare) {
      const decision = decide(data, evaluation)
      return explainList(condition, { path, items, decision }, data, evaluation, spare)
    },
    equalities: [],
  }
}

const none: readonly unknown[] = []

/** Of a value that is no list, there are no items. */
function readItems(path: Path, data: unknown): readonly unknown[] {
  const value = readOrMiss(path, data)
  return Array.isArray(value) ? value : none
}

const undecided = -1

/** An item that holds decides `some` and `none`, one that does not decides `every`. */
function compileQuantifier(condition: ListCondition, items: ItemConditions): Decide {
  const seeks = !('every' in condition)
  const isWanted = 'some' in condition
  return (list, root, evaluation) => {
    for (let index = 0; index < list.length; index++) {
      if (!evaluation.spend(unitsPerItem)) return { verdict: false, index: undecided }
      const holds = items.hold(list[index], root, evaluation)
      if (evaluation.overrun !== null) return { verdict: false, index: undecided }
      if (holds === seeks) return { verdict: isWanted, index }
    }
    // Of no items, `every` says nothing: a list that is missing must not look as if all were well.
    return { verdict: seeks ? !isWanted : list.length > 0, index: undecided }
  }
}

function compileCount({ operator: name, value }: CountCondition, items: ItemConditions | undefined): Decide {
  const operator = findOperator(name)
  if (!operator) throw new Error(`No operator: ${name}`)
  const test = operator.compile(value)
  // More items change the result no more from one beyond the value on, or from the value on.
  const limit = /^(?:greater_than_or_equal|less_than)$/.test(operator.name) ? value : value + 1
  return (list, root, evaluation) => {
    if (items === undefined) return { verdict: test(list.length, evaluation), index: undecided }
    let count = 0
    for (let index = 0; index < list.length && count < limit; index++) {
      if (!evaluation.spend(unitsPerItem)) return { verdict: false, index: undecided }
      if (items.hold(list[index], root, evaluation)) count++
      if (evaluation.overrun !== null) return { verdict: false, index: undecided }
    }
    return { verdict: test(count, evaluation), index: undecided }
  }
}

interface Explained {
  readonly path: Path
  readonly items: ItemConditions | undefined
  readonly decision: Decision
}

function explainList(
  condition: ListCondition,
  { path, items, decision }: Explained,
  data: unknown,
  evaluation: Evaluation,
  spare: Evaluation,
): ListTrace {
  const { quantifier, path: list } = readList(condition)
  const value = readOrMiss(path, data)
  const trace = {
    list,
    quantifier,
    ...(isCount(condition) && {
      operator: findOperator(condition.operator)?.name ?? condition.operator,
      expected: condition.value,
    }),
    ...(Array.isArray(value) && { items: value.length }),
    verdict: decision.verdict && evaluation.overrun === null,
  }
  if (evaluation.fault !== null) return { ...trace, warning: evaluation.fault }
  if (!Array.isArray(value)) return { ...trace, held: 0, ...noteOf(path, data, value) }
  if (items === undefined) return { ...trace, held: value.length }
  const { held, nearest } = surveyItems(items, value, data, spare)
  const index = decision.index === undecided ? nearest : decision.index
  return {
    ...trace,
    ...(held !== undefined && { held }),
    ...(index !== undefined && { item: index, conditions: items.explain(value[index], data, spare) }),
  }
}

/** Why there are no items. */
function noteOf(path: Path, data: unknown, value: unknown): { note?: string } {
  const note =
    value === undefined ? findDeadEnd(path, data) : `${nameKind(value)} is no list, so it has no items`
  return note === undefined ? {} : { note }
}

/** Counts the items that hold, and finds the one that came nearest to it, as far as the work reaches. */
function surveyItems(
  items: ItemConditions,
  list: readonly unknown[],
  root: unknown,
  spare: Evaluation,
): { held?: number; nearest?: number } {
  if (!spare.has(list.length * (unitsPerItem + items.clauses * 2))) return {}
  let held = 0
  let nearest: number | undefined
  let most = -1
  for (const [index, item] of list.entries()) {
    if (!spare.spend(unitsPerItem)) return {}
    const count = items.countHeld(item, root, spare)
    if (spare.overrun !== null) return {}
    if (count === undefined) held++
    else if (count > most) {
      most = count
      nearest = index
    }
  }
  return { held, ...(nearest !== undefined && { nearest }) }
}
