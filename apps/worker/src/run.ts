import { executionIdOf } from '@automation/database'
import { type ActionResult, findError, ruleHolds } from '@automation/engine'
import type { NewEvent } from '@automation/inbox'
import type { RunStatus } from '@automation/jobs'
import type { Span } from '@automation/telemetry'
import type { LoadedEvent } from './load-events.js'
import type { ReadyRule } from './ready-rule.js'
import type { RuleSet } from './rule-set.js'

/**
 * One rule's run for one event. With its rule and event, `startedAt` and `results` are all that is needed to go on with
 * it; so it can stop at any action, and another worker goes on.
 *
 *   begun ─▶ running ─▶ succeeded | failed
 *              │  ▲
 *              ▼  │ due
 *        waiting, retrying ─▶ cancelled, where the rule was switched off or deleted
 */
export interface Run {
  readonly executionId: string
  readonly rule: ReadyRule
  readonly event: LoadedEvent
  status: RunStatus
  error: string | null
  results: ActionResult[]
  readonly startedAt: Date
  finishedAt: Date | null
  /** When it goes on; null where it is finished, and while this worker has it. */
  dueAt: Date | null
  /** Which taking-up it belongs to; null where no worker has it. */
  lease: string | null
  /** True while it waits for a slot of the gate: if its worker ends meanwhile, it is not what ended it. */
  awaitsSlot?: boolean
  /** How many workers in a row have ended while they called or advanced it. */
  readonly interruptions: number
  /** What somebody should look at. */
  attention: 'unknown_outcome' | 'event_loop' | null
  /** What came of it since it was last recorded, to be committed with it. */
  tasks: TaskToMake[]
  emitted: EmittedEvent[]
  /** Where it is traced: the step that this worker makes of it. */
  span?: Span
  /** Where it was traced before: the place of its first step. */
  firstPlace?: string | undefined
}

export interface TaskToMake {
  actionIndex: number
  title: string
  description: string | null
  assigneeId: string | null
  priority: string
  dueAt: Date | null
  createdAt: Date
}

export interface EmittedEvent extends NewEvent {
  depth: number
}

/**
 * Judges the conditions, and begins the runs of the rules that match, in their order: the others leave nothing behind. A rule
 * that does not compile fails by itself, and no other with it.
 */
export function beginRuns({ rules, findCandidates }: RuleSet, event: LoadedEvent): Run[] {
  const startedAt = new Date()
  const now = startedAt.getTime()
  const runs: Run[] = []
  for (const place of findCandidates(event.data)) {
    const rule = rules[place]
    if (rule && ('fault' in rule.compiled || ruleHolds(rule.compiled, event.data, now)))
      runs.push(beginRun(rule, event, startedAt))
  }
  return runs
}

function beginRun(rule: ReadyRule, event: LoadedEvent, startedAt: Date): Run {
  return {
    executionId: executionIdOf(event, rule.id),
    rule,
    event,
    status: 'running',
    error: null,
    results: [],
    startedAt,
    finishedAt: null,
    dueAt: null,
    lease: null,
    interruptions: 0,
    attention: null,
    tasks: [],
    emitted: [],
  }
}

/** Every action is settled. */
export function finishRun(run: Run): void {
  run.error = findError(run.results)
  endRun(run, run.error === null ? 'succeeded' : 'failed')
}

export function endRun(run: Run, status: 'succeeded' | 'failed' | 'cancelled'): void {
  run.status = status
  run.finishedAt = new Date()
  run.dueAt = null
  run.lease = null
}

/** Lets go of a run until it is due. */
export function suspendRun(run: Run, status: 'waiting' | 'retrying' | 'running', dueAt: Date): void {
  run.error = findError(run.results)
  run.status = status
  run.dueAt = dueAt
  run.lease = null
}
