import {
  type CheckedRule,
  type CompiledRule,
  type Condition,
  compileRule,
  listLeaves,
  planRule,
} from '@automation/engine'
import { Atoms } from './atoms.js'
import { isGrouped } from './check-groups.js'
import { hasNoConstant, isRelative } from './constants.js'
import { describeEffect, effectOf } from './effects.js'
import type { CheckFindings, Witness } from './finding.js'
import { allOf, anyOf, type Formula, formulaOf, type Translate, translateWith } from './formula.js'
import { compareFast } from './pair-relation.js'
import { fillSamples, sampleValues, unitsPerSample } from './placeholders.js'
import { actionOf, findDone, isDoneWith, type PlacedAction } from './reach.js'
import { collectAtoms, listConditions } from './rule-view.js'
import { solve } from './solve.js'
import { Space } from './space.js'

/** An action of a rule, with all that has to hold for it to be done. */
interface Effect extends PlacedAction {
  readonly index: number
  readonly holds: Formula
  readonly fails: Formula
  readonly relative: ReadonlySet<number>
  readonly absolute: ReadonlySet<number>
}

/** Most pairs exclude one another at once. */
const unitsPerPair = 4
const maxFindings = 1_000

/** Compares the active rules of one trigger: those that do the same to the same target. */
export class PairCheck {
  readonly #rules: readonly (readonly [number, CheckedRule])[]
  readonly #report: CheckFindings
  readonly #space: Space
  readonly #translate: Translate
  readonly #atoms = new Atoms()
  readonly #compiled = new Map<CheckedRule, CompiledRule>()
  /** Pairs that were reported, by the two indexes. */
  readonly #known = new Set<string>()
  /** What another rule does whenever this one does: nothing that a third rule shares with it is news. */
  readonly #contained = new Set<Effect>()
  readonly #samples: Map<string, unknown>

  constructor(rules: readonly (readonly [number, CheckedRule])[], now: number, report: CheckFindings) {
    this.#rules = rules
    this.#report = report
    for (const [, rule] of rules)
      for (const condition of listConditions(rule)) collectAtoms(this.#atoms, condition)
    this.#samples = sampleValues(rules.flatMap(([, { actions }]) => actions))
    this.#space = new Space(this.#atoms.list(), now, report.budget, this.#samples)
    this.#translate = translateWith(this.#atoms, this.#space)
  }

  run(): void {
    for (const effects of this.#groupEffects()) {
      for (let n = 1; n < effects.length; n++) {
        if (this.#report.budget.isOver) {
          this.#leaveOpen(effects.slice(n))
          break
        }
        for (let m = 0; m < n && !this.#contained.has(effects[n] as Effect); m++) {
          if (this.#contained.has(effects[m] as Effect)) continue
          this.#compare(effects[m] as Effect, effects[n] as Effect)
          if (this.#known.size >= maxFindings) {
            this.#report.leaveOpen(
              'overlap',
              (effects[n] as Effect).index,
              'actions',
              `There are more than ${maxFindings} pairs of rules that do the same`,
            )
            return
          }
        }
      }
    }
  }

  /** What the budget did not reach. */
  #leaveOpen(effects: readonly Effect[]): void {
    for (const { index, action } of effects)
      this.#report.leaveOpen(
        'overlap',
        index,
        `actions[${action}]`,
        'It was not compared with the rules before it',
      )
  }

  /** Effects with the same target. One that compares a time after a WAIT is evaluated at another moment, and left out. */
  #groupEffects(): Effect[][] {
    const groups = new Map<string, Effect[]>()
    for (const [index, rule] of this.#rules) {
      if (this.#report.budget.isOver) {
        this.#report.leaveOpen('overlap', index, 'actions', 'It was not compared with the other rules')
        continue
      }
      let isLater = false
      rule.actions.forEach((action, n) => {
        const key = effectOf(action)
        const isRelativeWhen = action.when !== undefined && this.#isRelative(action.when)
        if (key !== undefined && !(isLater && isRelativeWhen)) {
          const group = groups.get(key)
          const effect = this.#makeEffect(index, rule, n)
          if (group === undefined) groups.set(key, [effect])
          else if (group.at(-1)?.index !== index) group.push(effect)
        }
        if (action.type === 'WAIT') isLater = true
      })
    }
    return [...groups.values()].filter((effects) => effects.length > 1)
  }

  #makeEffect(index: number, rule: CheckedRule, action: number): Effect {
    const { when } = rule.actions[action] as CheckedRule['actions'][number]
    const conditions = [...rule.conditions, ...(when ? [when] : [])]
    const relative = new Set<number>()
    const absolute = new Set<number>()
    const leaves = conditions.flatMap((condition) => listLeaves(condition, ''))
    for (const { atom } of leaves.map(({ leaf }) => this.#atoms.find(leaf))) {
      const { variable } = this.#space.literal(atom, false)
      if (isRelative(atom)) relative.add(variable)
      else if (!hasNoConstant(atom)) absolute.add(variable)
    }
    return { index, rule, action, ...this.#formulasOf(conditions), relative, absolute }
  }

  #isRelative(when: CheckedRule['conditions'][number]): boolean {
    return listLeaves(when, '').some(({ leaf }) => isRelative(this.#atoms.find(leaf).atom))
  }

  #compare(first: Effect, second: Effect): void {
    this.#report.budget.charge(unitsPerPair)
    // Only one of them runs for an event.
    if (isGrouped(first.rule) && first.rule.group === second.rule.group) return
    const fast = compareFast(first.holds, second.holds)
    if (fast === 'disjoint') return
    const pair = `${first.index} ${second.index}`
    if (this.#known.has(pair)) return
    const answer = solve([first.holds, second.holds], this.#space)
    if (answer.is === 'impossible') return
    const witness = answer.is === 'possible' ? this.#confirm(answer.chosen, [first, second]) : undefined
    const isOpen = isGrouped(first.rule) || isGrouped(second.rule)
    if (witness === undefined || isOpen) {
      const reason = isOpen
        ? `Whether ${quote(first.rule)} does the same for an event depends on which rule of a group runs`
        : `Whether ${quote(first.rule)} does the same for an event could not be decided`
      this.#report.leaveOpen('overlap', second.index, `actions[${second.action}]`, reason)
      return
    }
    this.#known.add(pair)
    this.#reportPair(first, second, witness)
  }

  #reportPair(first: Effect, second: Effect, witness: Witness): void {
    const isMixed = mixes(first, second) || mixes(second, first)
    const [secondInFirst, firstInSecond] = [
      !isMixed && isDoneWith(first, second) && this.#isWithin(second, first),
      !isMixed && isDoneWith(second, first) && this.#isWithin(first, second),
    ]
    // Which of the two contains the other is not known then; that both run for an event is.
    if (this.#report.budget.isOver)
      this.#report.leaveOpen(
        'contained',
        second.index,
        `actions[${second.action}]`,
        `Whether it runs whenever ${quote(first.rule)} does was not decided`,
      )
    const isSame = secondInFirst && firstInSecond
    const [narrow, wide] = firstInSecond && !secondInFirst ? [first, second] : [second, first]
    const [name, both] = [quote(wide.rule), `both ${describeEffect(actionOf(second))}.`]
    if (isSame && this.#areTwins(first, second))
      this.#add('duplicate', narrow, wide, `Does the same for the same events as ${name}: ${both}`, witness)
    else if (isSame)
      this.#add('contained', narrow, wide, `${name} runs for the same events, and ${both}`, witness)
    else if (secondInFirst || firstInSecond)
      this.#add('contained', narrow, wide, `Whenever this runs, ${name} runs too, and ${both}`, witness)
    else this.#add('overlap', narrow, wide, `For some events ${name} runs too, and ${both}`, witness)
  }

  #isWithin(one: Pick<Effect, 'holds'>, other: Pick<Effect, 'fails'>): boolean {
    return solve([one.holds, other.fails], this.#space).is === 'impossible'
  }

  /** Whether all of their actions are the same, for the same events. */
  #areTwins({ rule: one }: Effect, { rule: other }: Effect): boolean {
    if (JSON.stringify(one.actions) !== JSON.stringify(other.actions)) return false
    const [first, second] = [this.#formulasOf(one.conditions), this.#formulasOf(other.conditions)]
    return this.#isWithin(first, second) && this.#isWithin(second, first)
  }

  #formulasOf(conditions: readonly Condition[]): { holds: Formula; fails: Formula } {
    return {
      holds: allOf(conditions.map((condition) => formulaOf(condition, this.#translate))),
      fails: anyOf(conditions.map((condition) => formulaOf(condition, this.#translate, true))),
    }
  }

  #add(
    code: 'duplicate' | 'contained' | 'overlap',
    one: Effect,
    other: Effect,
    message: string,
    witness: Witness,
  ): void {
    if (code !== 'overlap') this.#contained.add(one)
    const others = [{ ...this.#report.refer(other.index), path: `actions[${other.action}]` }]
    this.#report.find(code, one.index, `actions[${one.action}]`, message, { others, witness })
  }

  /** Completes an event with what the placeholders read, and runs both rules for it. */
  #confirm(chosen: ReadonlyMap<number, number>, effects: readonly Effect[]): Witness | undefined {
    const data = this.#space.buildData(chosen)
    const samples = sampleValues(effects.flatMap(({ rule, action }) => rule.actions.slice(0, action + 1)))
    this.#report.budget.charge(samples.size * unitsPerSample)
    fillSamples(data, samples, this.#space, chosen)
    const { now } = this.#space
    const isDone = effects.every(({ rule, action }) => {
      const plan = planRule(this.#compile(rule), data, now, undefined, this.#report.budget)
      return findDone(plan, action) !== undefined
    })
    if (!isDone) return undefined
    return { type: effects[0]?.rule.trigger ?? '', at: new Date(now).toISOString(), data }
  }

  #compile(rule: CheckedRule): CompiledRule {
    let compiled = this.#compiled.get(rule)
    if (compiled === undefined) {
      compiled = compileRule(rule)
      this.#compiled.set(rule, compiled)
    }
    return compiled
  }
}

/** Whether a path is compared with the moment of evaluation and with a constant: what holds now may not hold later. */
function mixes(one: Effect, other: Effect): boolean {
  return [...one.relative].some((variable) => one.absolute.has(variable) || other.absolute.has(variable))
}

function quote({ name }: CheckedRule): string {
  return JSON.stringify(name)
}
