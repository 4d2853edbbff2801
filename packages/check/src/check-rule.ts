import {
  type CheckedRule,
  type Condition,
  describeCondition,
  findOperator,
  isClause,
  isListCondition,
  itemPartsOf,
  type Leaf,
  listLeaves,
  partsOf,
} from '@automation/engine'
import { isOpaque } from './atoms.js'
import { isGrouped } from './check-groups.js'
import type { CheckFindings } from './finding.js'
import { allOf, anyOf, type Formula, formulaOf, type Translate } from './formula.js'
import { join } from './join.js'
import { listConditions, RuleView } from './rule-view.js'

/** A condition with its path in the rule. */
interface Placed {
  condition: Condition
  path: string
}

/** Why a question about conditions is open. */
function reasonFor(conditions: readonly Condition[]): string {
  return conditions.some((condition) => listLeaves(condition, '').some(({ leaf }) => isOpaque(leaf)))
    ? 'It has a condition on a list, between two fields or on an earlier action, which the check does not decide'
    : 'It has too many combinations of values, or a pattern that the check cannot decide'
}

/** Checks one rule by itself. @returns whether an event can match it, as far as is known */
export function checkRule(rule: CheckedRule, index: number, now: number, report: CheckFindings): boolean {
  const view = new RuleView(listConditions(rule), now, report.budget)
  const conditions = rule.conditions.map((condition, n) => ({ condition, path: `conditions[${n}]` }))
  const matches = view.decide((translate) => allHold(conditions, translate))
  if (matches.is === 'impossible') {
    reportNever(view, conditions, index, report)
    return false
  }
  if (matches.is === 'unknown')
    report.leaveOpen('never_matches', index, 'conditions', reasonFor(rule.conditions))
  const isCertain =
    conditions.length > 0 &&
    view.decide((translate) => [
      anyOf(conditions.map(({ condition }) => formulaOf(condition, translate, true))),
    ]).is === 'impossible'
  if (isCertain)
    report.find(
      'always_true',
      index,
      'conditions',
      `${isGrouped(rule) ? 'Matches' : 'Runs for'} every event: ${describeAll(conditions)} holds for any data.`,
    )
  else new Redundancy(view, conditions, index, report).search()
  checkActions(rule, view, conditions, index, report)
  return true
}

function allHold(conditions: readonly Placed[], translate: Translate): Formula[] {
  return conditions.map(({ condition }) => formulaOf(condition, translate))
}

function reportNever(
  view: RuleView,
  conditions: readonly Placed[],
  index: number,
  report: CheckFindings,
): void {
  const core = findCore(view, conditions)
  const place = join(core.map(({ path }) => path))
  const path = core.length === 1 && core[0] ? core[0].path : 'conditions'
  const reason =
    core.length === 1 ? `${describeAll(core)} cannot hold` : `${describeAll(core)} cannot hold together`
  const last = view.findLastMoment((translate) => allHold(conditions, translate))
  // Whether it never ran, or no more, is not known then.
  if (report.budget.isOver)
    report.leaveOpen('never_matches', index, 'conditions', reasonFor(conditions.map((one) => one.condition)))
  else if (last === undefined) report.find('never_matches', index, path, `Never runs: ${reason} (${place}).`)
  else
    report.find(
      'dead_since',
      index,
      path,
      `Has not run since ${new Date(last).toISOString()}, and never will again: ${reason} any more (${place}).`,
    )
}

/** The fewest conditions that exclude one another: without any of them the others can hold. */
function findCore(view: RuleView, conditions: readonly Placed[]): Placed[] {
  let core = [...conditions]
  for (const one of conditions) {
    const others = core.filter((other) => other !== one)
    if (view.decide((translate) => allHold(others, translate)).is === 'impossible') core = others
  }
  return core
}

function checkActions(
  rule: CheckedRule,
  view: RuleView,
  conditions: readonly Placed[],
  index: number,
  report: CheckFindings,
): void {
  let isLater = false
  rule.actions.forEach(({ type, when }, n) => {
    if (when !== undefined) {
      const path = `actions[${n}].when`
      // After a WAIT the moment is another one than that of the conditions.
      if (isLater && listLeaves(when, '').some(({ leaf }) => isRelativeLeaf(leaf)))
        report.leaveOpen('unreachable_action', index, path, 'It compares a time with a time after a WAIT')
      else checkWhen(when, path, type)
    }
    if (type === 'WAIT') isLater = true
  })

  function checkWhen(when: Condition, path: string, type: string): void {
    const holds = view.decide((translate) => [...allHold(conditions, translate), formulaOf(when, translate)])
    const reason = reasonFor([...rule.conditions, when])
    if (holds.is === 'unknown') report.leaveOpen('unreachable_action', index, path, reason)
    if (holds.is === 'impossible') {
      const message = `${type} never runs: ${describeCondition(when)} cannot hold if the conditions of the rule do.`
      report.find('unreachable_action', index, path, message)
      return
    }
    const fails = view.decide((translate) => [
      ...allHold(conditions, translate),
      formulaOf(when, translate, true),
    ])
    if (fails.is === 'unknown') report.leaveOpen('implied', index, path, reason)
    if (fails.is === 'impossible')
      report.find(
        'implied',
        index,
        path,
        `Redundant: the conditions of the rule already imply that ${describeCondition(when)}.`,
      )
  }
}

function isRelativeLeaf(leaf: Leaf): boolean {
  if (isListCondition(leaf))
    return itemPartsOf(leaf).some(({ condition }) =>
      listLeaves(condition, '').some((inner) => isRelativeLeaf(inner.leaf)),
    )
  if (!isClause(leaf)) return true
  return findOperator(leaf.operator)?.name.startsWith('within_') === true
}

const nothing: ReadonlyMap<Condition, boolean> = new Map()

/** Searches conditions that could be left out: with either verdict the rule matches the same events. */
class Redundancy {
  readonly #view: RuleView
  readonly #conditions: readonly Placed[]
  readonly #index: number
  readonly #report: CheckFindings
  /** What was reported already: it no longer says anything for others. */
  readonly #assumed = new Map<Condition, boolean>()

  constructor(view: RuleView, conditions: readonly Placed[], index: number, report: CheckFindings) {
    this.#view = view
    this.#conditions = conditions
    this.#index = index
    this.#report = report
  }

  /** From the last to the first, so that of two equal conditions the second one is reported. */
  search(): void {
    for (const placed of this.#conditions.toReversed()) this.#visit(placed, true, false)
  }

  #visit(placed: Placed, isPositive: boolean, isNested: boolean): void {
    if (this.#isAlways(placed)) return
    // A group with one condition is that condition.
    const children = childrenOf(placed)
    const isRedundant = (isNested ? [true, false] : [true]).some((verdict) =>
      this.#changesNothing(placed, verdict, isPositive),
    )
    if (isRedundant) return
    const isNegation = 'not' in placed.condition
    for (const child of children.toReversed()) this.#visit(child, isPositive !== isNegation, true)
  }

  #isAlways({ condition, path }: Placed): boolean {
    if (this.#view.decide((translate) => [formulaOf(condition, translate, true)]).is !== 'impossible')
      return false
    this.#assumed.set(condition, true)
    this.#report.find('always_true', this.#index, path, `${describeCondition(condition)} holds for any data.`)
    return true
  }

  /** Whether it can be left out, both by itself and together with what was reported before. */
  #changesNothing({ condition, path }: Placed, verdict: boolean, isPositive: boolean): boolean {
    const isFree = [this.#assumed, nothing].every((before) =>
      this.#isEqual({ condition, path }, verdict, isPositive, before),
    )
    if (!isFree) return false
    this.#assumed.set(condition, verdict)
    this.#report.find('implied', this.#index, path, this.#describeRedundant({ condition, path }, verdict))
    return true
  }

  #isEqual(
    { condition, path }: Placed,
    verdict: boolean,
    isPositive: boolean,
    before: ReadonlyMap<Condition, boolean>,
  ): boolean {
    const after = new Map(before).set(condition, verdict)
    // Assuming more makes the rule match more, below a `not` fewer events: only that difference can have an event in it.
    const [wide, narrow] = verdict === isPositive ? [after, before] : [before, after]
    const differs = this.#view.decide((translate) => [
      this.#rule(translate, false, wide),
      this.#rule(translate, true, narrow),
    ])
    const reason = reasonFor(this.#conditions.map((one) => one.condition))
    if (differs.is === 'unknown') this.#report.leaveOpen('implied', this.#index, path, reason)
    return differs.is === 'impossible'
  }

  #rule(translate: Translate, isNegated: boolean, replaced: ReadonlyMap<Condition, boolean>): Formula {
    const formulas = this.#conditions.map(({ condition }) =>
      formulaOf(condition, translate, isNegated, replaced),
    )
    return isNegated ? anyOf(formulas) : allOf(formulas)
  }

  /** Names the one condition that decides it already, if there is one. */
  #describeRedundant({ condition, path }: Placed, verdict: boolean): string {
    const name = describeCondition(condition)
    const reason = this.#conditions.find(
      (other) =>
        !path.startsWith(other.path) &&
        this.#view.decide((translate) => [
          formulaOf(other.condition, translate),
          formulaOf(condition, translate, verdict),
        ]).is === 'impossible',
    )
    if (reason === undefined)
      return `Redundant: ${name} can be removed, because the rule runs for the same events without it.`
    const known = `${describeCondition(reason.condition)} (${reason.path})`
    return verdict
      ? `Redundant: ${known} already implies ${name}.`
      : `Redundant: ${name} cannot hold if ${known} does.`
  }
}

function childrenOf({ condition, path }: Placed): Placed[] {
  return partsOf(condition).map((part) => ({ condition: part.condition, path: path + part.place }))
}

function describeAll(conditions: readonly Placed[]): string {
  return join(conditions.map(({ condition }) => describeCondition(condition)))
}
