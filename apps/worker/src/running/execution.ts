import { executionIdOf } from '@automation/database'
import { type ActionResult, findError, type Judging, ruleHolds } from '@automation/engine'
import type { ExecutionRecord, LoadedEvent, RecordableExecution } from '@automation/ledger'
import type { Span } from '@automation/telemetry'
import type { EffectBudget, Refusal } from './effect-budget.js'
import type { ReadyRule } from './ready-rule.js'
import type { RuleSet } from './rule-set.js'

/** An execution in this worker's hands: what is stored of it, and what only a worker has. */
export interface Execution extends RecordableExecution {
  readonly rule: ReadyRule
  /** What its conditions may still cost. The executions of an event share it. */
  readonly judging: Judging
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
  judging: Judging
  budget: EffectBudget
}

/** So much work (about 10 ms) is done before others have a turn. */
export const sliceUnits = 400_000

/**
 * Judges the conditions of an event's rules, in their order, and begins the executions of those that match. A rule that does not
 * compile, and one whose conditions need too much work, fails by itself: its execution says why.
 */
export class Judgement {
  readonly executions: Execution[] = []
  readonly judging: Judging
  readonly #rules: RuleSet['rules']
  readonly #candidates: readonly number[]
  readonly #beginning: Beginning
  #next = 0

  constructor(
    { rules, findCandidates }: RuleSet,
    event: LoadedEvent,
    budget: EffectBudget,
    judging: Judging,
  ) {
    const startedAt = new Date()
    this.judging = judging
    this.#rules = rules
    this.#candidates = findCandidates(event.data)
    this.#beginning = { event, startedAt, judging: this.judging, budget }
  }

  /** Judges rules for as long as a slice of time has room. @returns whether all are judged */
  advance(): boolean {
    const end = this.judging.spent + sliceUnits
    while (this.#next < this.#candidates.length) {
      if (this.judging.spent > end) return false
      const rule = this.#rules[this.#candidates[this.#next++] as number]
      if (rule !== undefined) this.#judge(rule)
    }
    return true
  }

  #judge(rule: ReadyRule): void {
    const { judging, executions } = this
    const { event } = this.#beginning
    if ('fault' in rule.compiled || ruleHolds(rule.compiled, event.data, judging))
      executions.push(beginExecution(rule, this.#beginning))
    else if (judging.fault !== null) executions.push(beginUnjudged(rule, this.#beginning))
  }
}

/** An execution that fails without any action. Retried, it is judged again. */
function beginUnjudged(rule: ReadyRule, beginning: Beginning): Execution {
  const execution = beginExecution(rule, beginning)
  failUnjudged(execution.record, beginning.judging)
  return execution
}

export function failUnjudged(record: ExecutionRecord, judging: Judging): void {
  // The work of an event is that of all its rules: this one may be innocent.
  if (judging.overrun === 'rule') record.attention = 'work_budget'
  end(record, 'failed', judging.fault)
}

function beginExecution(rule: ReadyRule, { event, startedAt, judging, budget }: Beginning): Execution {
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
    judging,
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
