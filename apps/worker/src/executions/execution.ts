import { executionIdOf, postgresNow } from '@automation/database'
import {
  type ActionResult,
  collectedAlone,
  type EndingEvent,
  type Evaluation,
  findError,
} from '@automation/engine'
import type { ExecutionRecord, LoadedEvent, RecordableExecution, StoredDecision } from '@automation/ledger'
import type { Span } from '@automation/process/telemetry'
import type { EffectBudget, EffectRefusal } from './effect-budget.js'
import type { ReadyRule } from './ready-rule.js'

/** An execution in this worker's hands: what is stored of it, and what only a worker has. */
export interface Execution extends RecordableExecution {
  readonly rule: ReadyRule
  /** What its conditions may still cost. The executions of an event share it. */
  readonly evaluation: Evaluation
  /** What may still be recorded. The executions of an event share it. */
  readonly budget: EffectBudget
  /** What was found of the event that it waits for. */
  look?: Look | undefined
  /** What a person had decided when it was claimed, and that moment (epoch ms). Undefined in one that begins. */
  readonly claimed?: { readonly decision: StoredDecision | null; readonly at: number }
  /** Of its tasks and emitted events since it was last recorded. */
  effectBytes: number
  /** The span of what this worker does of it. */
  span?: Span
  /** The traceparent of its first span, which another process may have started. */
  firstTraceparent?: string | undefined
}

/** What a claimed execution has found of the event that it waits for (find-ending-event.ts). */
export interface Look {
  /** The earliest event that ends the wait. */
  found: EndingEvent | undefined
  /** Whether time ends it, since no event does. */
  isOver: boolean
  /** What is still to be looked at begins behind this (OpenWait). */
  seen: string
  /** When to look again at the latest (epoch ms); undefined: at the end of the time. */
  again: number | undefined
  warnings: string[]
  /** Why it may not wait. */
  refusal?: string
}

/** What the executions of one event share while they begin. */
interface Beginning {
  event: LoadedEvent
  startedAt: Date
  evaluation: Evaluation
  budget: EffectBudget
}

export function beginExecution(
  rule: ReadyRule,
  { event, startedAt, evaluation, budget }: Beginning,
): Execution {
  return {
    record: {
      id: executionIdOf(event, rule.id),
      handlerId: rule.id,
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
      reopened: 0,
      attention: null,
    },
    rule,
    evaluation,
    budget,
    // One that an event starts reads its batch when that has ended; this is one by hand.
    event:
      event.addressee?.kind === 'rule' && collects(rule)
        ? { ...event, data: collectedAlone(event.data) }
        : event,
    tasks: [],
    emitted: [],
    effectBytes: 0,
  }
}

/** Whether events of the rule make batches. */
export function collects({ compiled }: ReadyRule): boolean {
  return !('fault' in compiled) && compiled.perKey?.collect !== undefined
}

/** Its conditions or its key needed too much work. Retried, it is evaluated again. */
export function failUnevaluated(
  record: ExecutionRecord,
  evaluation: Evaluation,
  fault = evaluation.fault,
): void {
  // The work of an event is that of all its rules: this one may be innocent.
  if (evaluation.overrun === 'rule') record.attention = 'work_budget'
  end(record, 'failed', fault)
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
  record.finishedAt = new Date(postgresNow())
  record.dueAt = null
  record.lease = null
}

/** What its results say that somebody should look at. Workers before this one may have settled them. */
function findAttention(results: ActionResult[]): ExecutionRecord['attention'] {
  if (results.some(({ status }) => status === 'unknown')) return 'unknown_outcome'
  for (const { action, output } of results) {
    const { attention } = ((action === 'EMIT_EVENT' && output) || {}) as Pick<EffectRefusal, 'attention'>
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
  return { executionId: record.id, eventId: event.id, ruleId: record.handlerId }
}
