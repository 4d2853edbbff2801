import type { CheckedRule } from '@automation/engine'
import type { CheckFindings } from './finding.js'
import { anyOf, formulaOf, type Translate } from './formula.js'
import { RuleView } from './rule-view.js'

/** With more rules before it, a rule is compared with the first of them only. */
const maxBefore = 100
/** To name the fewest of more rules takes too long: all of them are named. */
const maxNamed = 20

/** Whether it runs when it matches depends on the other rules of its group, which are perhaps not all in the set. */
export function isGrouped({ group = null }: CheckedRule): boolean {
  return group !== null
}

/** Finds the rules of a group that never run, since whenever they match, rules before them do. */
export function checkGroups(
  rules: readonly CheckedRule[],
  compared: readonly number[],
  now: number,
  report: CheckFindings,
): void {
  for (const indexes of groupByPlace(rules, compared).values()) {
    if (indexes.length < 2) continue
    const members = indexes.map((index) => ({ index, rule: rules[index] as CheckedRule }))
    // A stable sort: of equal orders the rule that was created first stays first.
    members.sort((one, other) => (one.rule.order ?? 0) - (other.rule.order ?? 0))
    new GroupCheck(members, now, report).run()
  }
}

function groupByPlace(rules: readonly CheckedRule[], indexes: readonly number[]): Map<string, number[]> {
  const groups = new Map<string, number[]>()
  for (const index of indexes) {
    const { trigger, group = null } = rules[index] as CheckedRule
    if (group === null) continue
    const key = `${group} ${trigger}`
    groups.set(key, [...(groups.get(key) ?? []), index])
  }
  return groups
}

interface Member {
  readonly index: number
  readonly rule: CheckedRule
}

class GroupCheck {
  readonly #members: readonly Member[]
  readonly #report: CheckFindings
  readonly #view: RuleView

  constructor(members: readonly Member[], now: number, report: CheckFindings) {
    this.#members = members
    this.#report = report
    this.#view = new RuleView(
      members.flatMap(({ rule }) => rule.conditions),
      now,
      report.budget,
    )
  }

  run(): void {
    this.#members.forEach((member, place) => {
      if (place > 0) this.#check(member, this.#members.slice(0, place))
    })
  }

  #check(member: Member, all: readonly Member[]): void {
    const before = all.slice(0, maxBefore)
    const answer = this.#isFirst(member, before)
    if (answer === 'impossible') this.#reportNever(member, before)
    else if (answer === 'unknown' || before.length < all.length)
      this.#report.leaveOpen(
        'never_first',
        member.index,
        'order',
        'The rules before it in its group have too many combinations of values, or conditions that the check does not decide',
      )
  }

  /** Whether an event can match this rule and none of the others. */
  #isFirst({ rule }: Member, others: readonly Member[]) {
    return this.#view.decide((translate) => [
      ...rule.conditions.map((condition) => formulaOf(condition, translate)),
      ...others.map((other) => failsOf(other, translate)),
    ]).is
  }

  #reportNever(member: Member, before: readonly Member[]): void {
    const { group } = member.rule
    const core = this.#findCore(member, before)
    const [only] = core
    const message =
      core.length === 1 && only
        ? `Never runs: whenever it matches, ${JSON.stringify(only.rule.name)} matches too, and comes first in the group ${group}.`
        : `Never runs: whenever it matches, one of the ${core.length} rules before it in the group ${group} does.`
    const others = core.map(({ index }) => ({ ...this.#report.refer(index), path: 'order' }))
    this.#report.find('never_first', member.index, 'order', message, { others })
  }

  /** The fewest rules before it that leave it no event. */
  #findCore(member: Member, before: readonly Member[]): readonly Member[] {
    const alone = before.find((other) => this.#isFirst(member, [other]) === 'impossible')
    if (alone !== undefined) return [alone]
    if (before.length > maxNamed) return before
    return before.reduce<readonly Member[]>((core, one) => {
      const others = core.filter((other) => other !== one)
      return this.#isFirst(member, others) === 'impossible' ? others : core
    }, before)
  }
}

function failsOf({ rule }: Member, translate: Translate) {
  return anyOf(rule.conditions.map((condition) => formulaOf(condition, translate, true)))
}
