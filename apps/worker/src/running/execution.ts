import { executionIdOf } from '@automation/database'
import { type ActionResult, type Evaluation, findError, ruleHolds } from '@automation/engine'
import type { ExecutionRecord, LoadedEvent, RecordableExecution } from '@automation/ledger'
import type { Span } from '@automation/process/telemetry'
import type { EffectBudget, Refusal } from './effect-budget.js'
import type { ReadyRule } from './ready-rule.js'
import type { RuleSet } from './rule-set.js'

/** An execution in this worker's hands: what is stored of it, and what only a worker has. */
export interface Execution extends RecordableExecution {
  readonly rule: ReadyRule
  /** What its conditions may still cost. The executions of an event share it. */
  readonly evaluation: Evaluation
  /** What may still be recorded. The executions of an event share it. */
  readonly budget: EffectBudget
  /** Of its tasks and emitted events since it was last recorded. */
  effectBytes: number
  /** The span of what this worker does of it. */
  span?: Span
  /** The traceparent of its first span, which another process may have started. */
  firstTraceparent?: string | undefined
}

/** What the executions of one event share while they begin. */
interface Beginning {
  event: LoadedEvent
  startedAt: Date
  evaluation: Evaluation
  budget: EffectBudget
}

/** So much work (about 10 ms) is done before others have a turn. */
export const sliceUnits = 400_000

/**
 * Evaluates the conditions of an event's rules, in their order, and begins the executions of those that match. A rule that does not
 * compile, and one whose conditions need too much work, fails by itself: its execution says why.
 */
export class EventEvaluation {
  readonly executions: Execution[] = []
  readonly evaluation: Evaluation
  readonly #rules: RuleSet['rules']
  readonly #candidates: readonly number[]
  readonly #beginning: Beginning
  #next = 0

  constructor(
    { rules, findCandidates }: RuleSet,
    event: LoadedEvent,
    budget: EffectBudget,
    evaluation: Evaluation,
  ) {
    const startedAt = new Date()
    this.evaluation = evaluation
    this.#rules = rules
    this.#candidates = findCandidates(event.data)
    this.#beginning = { event, startedAt, evaluation: this.evaluation, budget }
  }

  /** Evaluates rules for as long as a slice of time has room. @returns whether all are evaluated */
  advance(): boolean {
    const end = this.evaluation.spent + sliceUnits
    while (this.#next < this.#candidates.length) {
      if (this.evaluation.spent > end) return false
      const rule = this.#rules[this.#candidates[this.#next++] as number]
      if (rule !== undefined) this.#evaluate(rule)
    }
    return true
  }

  #evaluate(rule: ReadyRule): void {
    const { evaluation, executions } = this
    const { event } = this.#beginning
    if ('fault' in rule.compiled || ruleHolds(rule.compiled, event.data, evaluation))
      executions.push(beginExecution(rule, this.#beginning))
    else if (evaluation.fault !== null) executions.push(beginUnevaluated(rule, this.#beginning))
  }
}

/** An execution that fails without any action. Retried, it is evaluated again. */
function beginUnevaluated(rule: ReadyRule, beginning: Beginning): Execution {
  const execution = beginExecution(rule, beginning)
  failUnevaluated(execution.record, beginning.evaluation)
  return execution
}

export function failUnevaluated(record: ExecutionRecord, evaluation: Evaluation): void {
  // The work of an event is that of all its rules: this one may be innocent.
  if (evaluation.overrun === 'rule') record.attention = 'work_budget'
  end(record, 'failed', evaluation.fault)
}

function beginExecution(rule: ReadyRule, { event, startedAt, evaluation, budget }: Beginning): Execution {
  return {
    record: {
      id: executionIdOf(event, rule.id),
      ruleId: rule.id,
      ruleVersion: rule.version,
      status: 'running',
      error: null,
      results: [],
      startedAt,
      finishedAt: null,
      dueAt: null,
      lease: null,
      awaitsSlot: false,
      interruptions: 0,
      attention: null,
    },
    rule,
    evaluation,
    budget,
    event,
    tasks: [],
    emitted: [],
    effectBytes: 0,
  }
}

/** Ends an execution whose actions are all settled. */
export function finish(record: ExecutionRecord): void {
  const error = findError(record.results)
  end(record, error === null ? 'succeeded' : 'failed', error)
}

export function end(
  record: ExecutionRecord,
  status: 'succeeded' | 'failed' | 'cancelled',
  error: string | null,
): void {
  record.status = status
  record.error = error
  if (status === 'failed') record.attention ??= findAttention(record.results)
  record.finishedAt = new Date()
  record.dueAt = null
  record.lease = null
}

/** What its results say that somebody should look at. Workers before this one may have settled them. */
function findAttention(results: ActionResult[]): ExecutionRecord['attention'] {
  if (results.some(({ status }) => status === 'unknown')) return 'unknown_outcome'
  for (const { action, output } of results) {
    const { attention } = ((action === 'EMIT_EVENT' && output) || {}) as Pick<Refusal, 'attention'>
    if (attention !== undefined) return attention
  }
  return null
}

/** Releases an execution until it is due. */
export function suspend(
  record: ExecutionRecord,
  status: 'waiting' | 'retrying' | 'running',
  dueAt: Date,
): void {
  record.error = findError(record.results)
  record.status = status
  record.dueAt = dueAt
  record.lease = null
}

/** The fields that identify an execution in log lines. */
export function idsOf({ record, event }: Execution) {
  return { executionId: record.id, eventId: event.id, ruleId: record.ruleId }
}
