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
  scheduleType,
  type WorkLimits,
} from '@automation/engine'
import type { BacktestSubject, TestedDefinition } from './backtest-subject.js'
import { EarlierRules } from './earlier-rules.js'
import { type Contender, findFirst, GroupMembers } from './group-members.js'
import { findOwnSchedule } from './own-ticks.js'

export interface TestedEvent {
  id: string
  type: string
  /** Epoch ms: the moment of evaluation. */
  acceptedAt: number
  /** The rule that the event is addressed to; null: all active rules of its type. */
  addressedTo: string | null
  data: unknown
  /** Of its workspace when it was evaluated: it says in which versions the other rules of a group were. */
  rulesVersion?: number | null
  /** A tick that the schedule of the draft would have had. It is for the draft alone. */
  isGenerated?: boolean
  /** Characters of its JSON. Without it, the rules before the tested one are evaluated for each event. */
  size?: number
}

/** outranked: it matched, and another rule of its group would have run. */
export type TestVerdict = 'matched' | 'outranked' | 'not_matched' | 'not_judged'

/** Another rule of the group that would run with the draft alone, or with the active version alone. */
export interface Move {
  ruleId: string
  kind: 'gained' | 'lost'
}

/** Of one event; null where there was nothing to evaluate. */
export interface EventVerdicts {
  active: TestVerdict | null
  draft: TestVerdict | null
}

/** What a rule would have done: an action, unless one before it would have stopped the rule. */
export interface TestedStep {
  planned: PlannedAction
  isStopped: boolean
}

export interface Evaluated {
  verdicts: EventVerdicts
  /** Of the rules that matched; calls are assumed to succeed. */
  steps: { active: TestedStep[]; draft: TestedStep[] }
  moves: Move[]
}

interface TestedRule extends Contender {
  trigger: string
  compiled: CompiledRule
}

/** Evaluates events as a worker does: each at its acceptance, after the rules before the tested one. It counts nothing. */
export class EventEvaluator {
  readonly #ruleId: string | undefined
  readonly #active: TestedRule | undefined
  readonly #draft: TestedRule | undefined
  readonly #earlier: EarlierRules
  /** undefined: no definition is in a group, or the others of it are not known. */
  readonly #members: GroupMembers | undefined
  readonly #limits: WorkLimits
  readonly #hasSameActions: boolean
  readonly #hasOwnTicks: boolean

  /** @throws where a definition does not compile */
  constructor(subject: BacktestSubject, limits: WorkLimits) {
    const { ruleId, active, draft, earlier = [], members } = subject
    this.#ruleId = ruleId
    this.#active = active && compile(active.definition, ruleId)
    this.#draft = draft && compile(draft, ruleId)
    const isGrouped = [this.#active, this.#draft].some((rule) => typeof rule?.group === 'string')
    this.#members = isGrouped && members ? new GroupMembers(members, limits) : undefined
    this.#earlier = new EarlierRules(earlier, limits)
    this.#limits = limits
    this.#hasOwnTicks = findOwnSchedule(subject) !== undefined
    this.#hasSameActions = JSON.stringify(active?.definition.actions) === JSON.stringify(draft?.actions)
  }

  /** The event types of the tested rules. */
  get types(): string[] {
    const types = [this.#active?.trigger, this.#draft?.trigger].filter((type) => type !== undefined)
    return [...new Set(types)]
  }

  isReachedBy({ type, addressedTo }: TestedEvent): boolean {
    const isReached = addressedTo === null || addressedTo === this.#ruleId
    return isReached && (type === this.#active?.trigger || type === this.#draft?.trigger)
  }

  /** The ticks of one schedule are none of another one. */
  isOfActive({ isGenerated }: TestedEvent): boolean {
    return isGenerated !== true
  }

  isOfDraft({ type, isGenerated }: TestedEvent): boolean {
    return isGenerated === true || !this.#hasOwnTicks || type !== scheduleType
  }

  evaluate(event: TestedEvent): Evaluated {
    const [active, draft] = [this.#active, this.#draft]
    // An event for one rule meets no other one.
    const left = event.addressedTo === null ? this.#earlier.limitsFor(event) : this.#limits
    const verdicts = {
      active: active ? this.#evaluateRule(active, event, left, this.isOfActive(event)) : null,
      draft: draft ? this.#evaluateRule(draft, event, left, this.isOfDraft(event)) : null,
    }
    const moves = event.addressedTo === null ? this.#settleGroups(event, verdicts) : []
    const byDraft = draft && verdicts.draft === 'matched' ? this.#listSteps(draft, event) : []
    const isAsDraft = this.#hasSameActions && verdicts.draft === 'matched'
    const list = (rule: TestedRule) => (isAsDraft ? byDraft : this.#listSteps(rule, event))
    const byActive = active && verdicts.active === 'matched' ? list(active) : []
    return { verdicts, steps: { active: byActive, draft: byDraft }, moves }
  }

  /** Notes which definition is outranked, and finds what moves between the rules of its group. */
  #settleGroups(event: TestedEvent, verdicts: EventVerdicts): Move[] {
    const members = this.#members
    if (members === undefined) return []
    const sides = [
      { kind: 'active' as const, rule: contending(this.#active, verdicts.active) },
      { kind: 'draft' as const, rule: contending(this.#draft, verdicts.draft) },
    ]
    const groups = new Set(sides.flatMap(({ rule }) => rule?.group ?? []))
    return [...groups].flatMap((group) => {
      const others = members.listMatching(group, event)
      const [active, draft] = sides.map(({ kind, rule }) => {
        if (rule?.group !== group) return findFirst(others)
        const first = findFirst([...others, rule])
        if (first !== rule.ruleId) verdicts[kind] = 'outranked'
        return first
      })
      if (this.#draft === undefined || active === draft) return []
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

  #listSteps({ compiled }: TestedRule, { acceptedAt, data }: TestedEvent): TestedStep[] {
    let isStopped = false
    const evaluation = new Evaluation(acceptedAt, this.#limits)
    return planActions(compiled, aloneIn(compiled, data), acceptedAt, evaluation).actions.map((planned) => {
      const step = { planned, isStopped }
      const { continueOnError, readsRecorded } = planned.of
      if ('fault' in planned && !continueOnError && !readsRecorded) isStopped = true
      return step
    })
  }
}

/** The actions that would have been done, as far as that is known. */
export function listDone(steps: readonly TestedStep[]): ReadyAction[] {
  return steps.flatMap(({ planned, isStopped }) =>
    !isStopped && isReady(planned) && !planned.of.readsRecorded ? [planned] : [],
  )
}

/** One that could not be evaluated takes its place as if it had matched. */
function contending(rule: TestedRule | undefined, verdict: TestVerdict | null): TestedRule | undefined {
  return verdict === 'matched' || verdict === 'not_judged' ? rule : undefined
}

/** A definition without a rule would be the newest one. */
function compile(definition: TestedDefinition, ruleId = 'newest'): TestedRule {
  const { trigger, group = null, order = null } = definition
  return { ruleId, trigger, group, order, compiled: compileRule(definition) }
}
