import { type CheckedRule, type Condition, listLeaves, type WorkBudget } from '@automation/engine'
import { Atoms } from './atoms.js'
import { type Formula, type Translate, translateWith } from './formula.js'
import { listMoments, type Moments } from './moments.js'
import { type Answer, solve } from './solve.js'
import { Space } from './space.js'

/** Builds the formulas of a question at one moment. */
export type Question = (translate: Translate) => readonly Formula[]

export type Decision =
  | { is: 'possible'; data: Record<string, unknown>; at: number }
  | { is: 'impossible' }
  | { is: 'unknown' }

/** The conditions of one rule at all moments that matter. */
export class RuleView {
  readonly #atoms = new Atoms()
  readonly #moments: Moments
  readonly #spaces = new Map<number, { space: Space; translate: Translate }>()
  readonly #budget: WorkBudget

  constructor(conditions: readonly Condition[], now: number, budget: WorkBudget) {
    this.#budget = budget
    for (const condition of conditions) collectAtoms(this.#atoms, condition)
    this.#moments = listMoments(this.#atoms.list(), now)
  }

  /** Whether the formulas can hold together, now or later. */
  decide(question: Question): Decision {
    let isUnknown = this.#moments.isCapped
    for (const moment of this.#moments.future) {
      const answer = this.#ask(moment, question)
      if (answer.is === 'possible')
        return { is: 'possible', data: this.#at(moment).space.buildData(answer.chosen), at: moment }
      if (answer.is === 'unknown') isUnknown = true
    }
    return { is: isUnknown ? 'unknown' : 'impossible' }
  }

  /** The last moment before now at which they could hold together. */
  findLastMoment(question: Question): number | undefined {
    return this.#moments.past.find((moment) => this.#ask(moment, question).is === 'possible')
  }

  #ask(moment: number, question: Question): Answer {
    const { space, translate } = this.#at(moment)
    return solve(question(translate), space)
  }

  #at(moment: number) {
    let at = this.#spaces.get(moment)
    if (at === undefined) {
      const space = new Space(this.#atoms.list(), moment, this.#budget)
      at = { space, translate: translateWith(this.#atoms, space) }
      this.#spaces.set(moment, at)
    }
    return at
  }
}

export function collectAtoms(atoms: Atoms, condition: Condition): void {
  for (const { leaf } of listLeaves(condition, '')) atoms.find(leaf)
}

/** All conditions of a rule, those of its actions included. */
export function listConditions({ conditions, actions }: CheckedRule): Condition[] {
  return [...conditions, ...actions.flatMap(({ when }) => (when ? [when] : []))]
}
