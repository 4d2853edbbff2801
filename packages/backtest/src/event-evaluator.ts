import {
  aloneIn,
  type CompiledRule,
  compileRule,
  Evaluation,
  isReady,
  type PlannedAction,
  planActions,
  type ReadyAction,
  ruleHolds,
  type WorkLimits,
} from '@automation/engine'
import type { BacktestSubject, TestedDefinition } from './backtest-subject.js'
import { EarlierRules } from './earlier-rules.js'
import { type Contender, findFirst, GroupMembers } from './group-members.js'
import { listKnown } from './not-known.js'
import { findOwnSchedule } from './own-ticks.js'
import { type Holding, RuleKeys, type SavedRuleKeys } from './rule-keys.js'
import { type EventVerdicts, type Side, sides, type TestedEvent, type TestVerdict } from './tested-event.js'

/** Another rule of the group that would run with the draft alone, or with the active version alone. */
export interface Move {
  ruleId: string
  kind: 'gained' | 'lost'
}

/** What a rule would have done: an action, unless one before it would have stopped the rule, or nobody can say what it does. */
export interface TestedStep {
  planned: PlannedAction
  isStopped: boolean
  isKnown: boolean
}

export type SavedSides = Partial<Record<Side, SavedRuleKeys>>

interface TestedRule extends Contender {
  trigger: string
  compiled: CompiledRule
  /** Of each action. */
  isKnown: boolean[]
  keys: RuleKeys | undefined
}

/**
 * Evaluates events as a worker does: each at its acceptance, after the rules before the tested one. What rules remember of their keys is asked
 * in a second step, in the order of acceptance. It counts nothing.
 */
export class EventEvaluator {
  readonly #ruleId: string | undefined
  readonly #rules: Record<Side, TestedRule | undefined>
  readonly #earlier: EarlierRules
  /** undefined: no definition is in a group, or the others of it are not known. */
  readonly #members: GroupMembers | undefined
  readonly #limits: WorkLimits
  readonly #doTheSame: boolean
  readonly #hasOwnTicks: boolean

  /** @throws where a definition does not compile */
  constructor(subject: BacktestSubject, limits: WorkLimits, saved: SavedSides = {}) {
    const { ruleId, active, draft, earlier = [], members } = subject
    this.#ruleId = ruleId
    this.#rules = {
      active: active && compile(active.definition, ruleId, saved.active),
      draft: draft && compile(draft, ruleId, saved.draft),
    }
    const isGrouped = sides.some((side) => typeof this.#rules[side]?.group === 'string')
    this.#members = isGrouped && members ? new GroupMembers(members, limits) : undefined
    this.#earlier = new EarlierRules(earlier, limits)
    this.#limits = limits
    this.#hasOwnTicks = findOwnSchedule(subject) !== undefined
    const done = [active?.definition, draft].map((one) => JSON.stringify([one?.actions, one?.perKey ?? null]))
    this.#doTheSame = done[0] === done[1]
  }

  /** The event types of the tested rules. */
  get types(): string[] {
    return [...new Set(sides.flatMap((side) => this.#rules[side]?.trigger ?? []))]
  }

  isReachedBy({ type, addressedTo }: TestedEvent): boolean {
    const isReached = addressedTo === null || addressedTo === this.#ruleId
    return isReached && sides.some((side) => this.#rules[side]?.trigger === type)
  }

  /** The ticks of one schedule are none of another one. */
  isOfActive({ isGenerated }: TestedEvent): boolean {
    return isGenerated !== true
  }

  isOfDraft({ isTick, isGenerated }: TestedEvent): boolean {
    return isGenerated === true || !this.#hasOwnTicks || !isTick
  }

  /** How many keys the limit of what is remembered has cost. */
  get forgotten(): number {
    return sides.reduce((sum, side) => sum + (this.#rules[side]?.keys?.forgotten ?? 0), 0)
  }

  saveKeys(): SavedSides {
    const saved: SavedSides = {}
    for (const side of sides) {
      const keys = this.#rules[side]?.keys
      if (keys) saved[side] = keys.save()
    }
    return saved
  }

  /** Evaluates conditions and groups. */
  evaluate(event: TestedEvent): { verdicts: EventVerdicts; moves: Move[] } {
    const { active, draft } = this.#rules
    // An event for one rule meets no other one.
    const left = event.addressedTo === null ? this.#earlier.limitsFor(event) : this.#limits
    const verdicts = {
      active: active ? this.#evaluateRule(active, event, left, this.isOfActive(event)) : null,
      draft: draft ? this.#evaluateRule(draft, event, left, this.isOfDraft(event)) : null,
    }
    const moves = event.addressedTo === null ? this.#settleGroups(event, verdicts) : []
    return { verdicts, moves }
  }

  /** Whether `perKey` of a definition is to be asked. By hand, a rule asks for nothing. */
  asks({ isTick, addressedTo }: TestedEvent, verdicts: EventVerdicts): boolean {
    const isByHand = addressedTo !== null && !isTick
    return !isByHand && sides.some((side) => verdicts[side] === 'matched' && this.#rules[side]?.keys)
  }

  /**
   * Asks what rules remember of the key of an event: their verdicts may be others then.
   *
   * @param isCounted whether the event is in the range
   * @returns how many counted executions it replaces
   */
  askKeys(event: TestedEvent, verdicts: EventVerdicts, isCounted: boolean): Record<Side, number> {
    const replaced = { active: 0, draft: 0 }
    for (const side of sides) {
      const rule = this.#rules[side]
      if (rule?.keys === undefined || verdicts[side] !== 'matched') continue
      const evaluation = new Evaluation(event.acceptedAt, this.#limits)
      const answer = rule.keys.ask(event, evaluation, () => this.#findHolding(rule, event), isCounted)
      verdicts[side] = answer.verdict
      replaced[side] = answer.replaced
    }
    return replaced
  }

  /** What the rules that matched would have done; calls are assumed to succeed. */
  listSteps(event: TestedEvent, verdicts: EventVerdicts): Record<Side, TestedStep[]> {
    const { active, draft } = this.#rules
    const byDraft = draft && verdicts.draft === 'matched' ? this.#stepsOf(draft, event) : []
    const isAsDraft = this.#doTheSame && verdicts.draft === 'matched'
    const list = (rule: TestedRule) => (isAsDraft ? byDraft : this.#stepsOf(rule, event))
    return { active: active && verdicts.active === 'matched' ? list(active) : [], draft: byDraft }
  }

  /** Notes which definition is outranked, and finds what moves between the rules of its group. */
  #settleGroups(event: TestedEvent, verdicts: EventVerdicts): Move[] {
    const members = this.#members
    if (members === undefined) return []
    const contenders = sides.map((side) => ({ side, rule: contending(this.#rules[side], verdicts[side]) }))
    const groups = new Set(contenders.flatMap(({ rule }) => rule?.group ?? []))
    return [...groups].flatMap((group) => {
      const others = members.listMatching(group, event)
      const [active, draft] = contenders.map(({ side, rule }) => {
        if (rule?.group !== group) return findFirst(others)
        const first = findFirst([...others, rule])
        if (first !== rule.ruleId) verdicts[side] = 'outranked'
        return first
      })
      if (this.#rules.draft === undefined || active === draft) return []
      return others.flatMap(({ ruleId }): Move[] => {
        if (ruleId === draft) return [{ ruleId, kind: 'gained' }]
        return ruleId === active ? [{ ruleId, kind: 'lost' }] : []
      })
    })
  }

  #evaluateRule(
    { trigger, compiled }: TestedRule,
    event: TestedEvent,
    limits: WorkLimits,
    isOfIt: boolean,
  ): TestVerdict {
    if (event.type !== trigger || !isOfIt) return 'not_matched'
    const evaluation = new Evaluation(event.acceptedAt, limits)
    if (ruleHolds(compiled, event.data, evaluation)) return 'matched'
    return evaluation.fault === null ? 'not_matched' : 'not_judged'
  }

  #findHolding(rule: TestedRule, event: TestedEvent): Holding {
    const last = this.#stepsOf(rule, event).at(-1)?.planned
    const end = last === undefined ? event.acceptedAt : ((isReady(last) ? last.end : undefined) ?? last.at)
    return { ...(event.ended && { ended: event.ended }), ms: end - event.acceptedAt }
  }

  #stepsOf({ compiled, isKnown: known }: TestedRule, { acceptedAt, data }: TestedEvent): TestedStep[] {
    let isStopped = false
    const evaluation = new Evaluation(acceptedAt, this.#limits)
    return planActions(compiled, aloneIn(compiled, data), acceptedAt, evaluation).actions.map((planned) => {
      const { index, continueOnError } = planned.of
      const isKnown = known[index] ?? false
      const step = { planned, isStopped, isKnown }
      if ('fault' in planned && !continueOnError && isKnown) isStopped = true
      return step
    })
  }
}

/** The actions that would have been done, as far as that is known. */
export function listDone(steps: readonly TestedStep[]): ReadyAction[] {
  return steps.flatMap(({ planned, isStopped, isKnown }) =>
    !isStopped && isKnown && isReady(planned) ? [planned] : [],
  )
}

/** One that could not be evaluated takes its place as if it had matched. */
function contending(rule: TestedRule | undefined, verdict: TestVerdict | null): TestedRule | undefined {
  return verdict === 'matched' || verdict === 'not_judged' ? rule : undefined
}

/** A definition without a rule would be the newest one. */
function compile(definition: TestedDefinition, ruleId = 'newest', saved?: SavedRuleKeys): TestedRule {
  const { trigger, group = null, order = null } = definition
  const compiled = compileRule(definition)
  const keys = compiled.perKey && new RuleKeys(compiled.perKey, saved)
  return { ruleId, trigger, group, order, compiled, isKnown: listKnown(definition), keys }
}
