import {
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

export interface TestedEvent {
  id: string
  type: string
  /** Epoch ms: the moment of evaluation. */
  acceptedAt: number
  /** The rule that the event is addressed to; null: all active rules of its type. */
  addressedTo: string | null
  data: unknown
  /** Characters of its JSON. Without it, the rules before the tested one are evaluated for each event. */
  size?: number
}

export type TestVerdict = 'matched' | 'not_matched' | 'not_judged'

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
}

interface TestedRule {
  trigger: string
  compiled: CompiledRule
}

/** Evaluates events as a worker does: each at its acceptance, after the rules before the tested one. It counts nothing. */
export class EventEvaluator {
  readonly #ruleId: string | undefined
  readonly #active: TestedRule | undefined
  readonly #draft: TestedRule | undefined
  readonly #earlier: EarlierRules
  readonly #limits: WorkLimits
  readonly #hasSameActions: boolean

  /** @throws where a definition does not compile */
  constructor(subject: BacktestSubject, limits: WorkLimits) {
    const { ruleId, active, draft, earlier = [] } = subject
    this.#ruleId = ruleId
    this.#active = active && compile(active.definition)
    this.#draft = draft && compile(draft)
    this.#earlier = new EarlierRules(earlier, limits)
    this.#limits = limits
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

  evaluate(event: TestedEvent): Evaluated {
    const [active, draft] = [this.#active, this.#draft]
    // An event for one rule meets no other one.
    const left = event.addressedTo === null ? this.#earlier.limitsFor(event) : this.#limits
    const verdicts = {
      active: active ? this.#evaluateRule(active, event, left) : null,
      draft: draft ? this.#evaluateRule(draft, event, left) : null,
    }
    const byDraft = draft && verdicts.draft === 'matched' ? this.#listSteps(draft, event) : []
    const isAsDraft = this.#hasSameActions && verdicts.draft === 'matched'
    const list = (rule: TestedRule) => (isAsDraft ? byDraft : this.#listSteps(rule, event))
    const byActive = active && verdicts.active === 'matched' ? list(active) : []
    return { verdicts, steps: { active: byActive, draft: byDraft } }
  }

  #evaluateRule({ trigger, compiled }: TestedRule, event: TestedEvent, limits: WorkLimits): TestVerdict {
    if (event.type !== trigger) return 'not_matched'
    const evaluation = new Evaluation(event.acceptedAt, limits)
    if (ruleHolds(compiled, event.data, evaluation)) return 'matched'
    return evaluation.fault === null ? 'not_matched' : 'not_judged'
  }

  #listSteps({ compiled }: TestedRule, { acceptedAt, data }: TestedEvent): TestedStep[] {
    let isStopped = false
    const evaluation = new Evaluation(acceptedAt, this.#limits)
    return planActions(compiled, data, acceptedAt, evaluation).actions.map((planned) => {
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

function compile(definition: TestedDefinition): TestedRule {
  return { trigger: definition.trigger, compiled: compileRule(definition) }
}
