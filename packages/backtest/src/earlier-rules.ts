import {
  boundWork,
  type CompiledRule,
  compileRule,
  Evaluation,
  indexRules,
  type RuleDefinition,
  type RuleIndex,
  ruleHolds,
  type WorkBound,
  type WorkLimits,
} from '@automation/engine'

/** A rule that a worker evaluates before the tested one: all rules of an event share its work, in the order of their creation. */
export interface EarlierRule {
  trigger: string
  conditions: RuleDefinition['conditions']
}

interface EarlierOfType extends WorkBound {
  rules: CompiledRule[]
  index: RuleIndex
}

interface EventToEvaluate {
  type: string
  /** Epoch ms */
  acceptedAt: number
  data: unknown
  /** Characters of its JSON, where that is known. */
  size?: number
}

/** What the rules before the tested one leave of the work that an event may cost. */
export class EarlierRules {
  readonly #limits: WorkLimits
  readonly #byType = new Map<string, EarlierOfType>()

  constructor(rules: readonly EarlierRule[], limits: WorkLimits) {
    this.#limits = limits
    for (const type of new Set(rules.map(({ trigger }) => trigger))) {
      const conditions = rules.filter(({ trigger }) => trigger === type).map((rule) => rule.conditions)
      const compiled = conditions.flatMap(compile)
      this.#byType.set(type, {
        rules: compiled,
        index: indexRules(compiled),
        ...boundWork(conditions.flat()),
      })
    }
  }

  /** Where they cannot leave less than one rule may cost, they are not evaluated. */
  limitsFor({ type, acceptedAt, data, size }: EventToEvaluate): WorkLimits {
    const { rule, event } = this.#limits
    const earlier = this.#byType.get(type)
    if (earlier === undefined) return this.#limits
    const { base, perCharacter, rules, index } = earlier
    if (size !== undefined && base + perCharacter * size + rule <= event) return this.#limits
    const evaluation = new Evaluation(acceptedAt, this.#limits)
    for (const candidate of index.findCandidates(data))
      ruleHolds(rules[candidate] as CompiledRule, data, evaluation)
    return { rule, event: Math.max(0, event - evaluation.spent) }
  }
}

/** One that does not compile any more costs a worker nothing. */
function compile(conditions: EarlierRule['conditions']): CompiledRule[] {
  try {
    return [compileRule({ conditions, actions: [] })]
  } catch {
    return []
  }
}
