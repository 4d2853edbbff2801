import { type ActionResult, type CompiledPerKey, decisionType, type Suppression } from '@automation/engine'
import type { NewEvent } from '../acceptance/accept-events.js'
import type { ExecutionStatus } from '../statuses.js'
import type { LoadedEvent } from '../unfinished/load-events.js'
import type { OpenWait } from '../waits/open-wait.js'

/** An execution as it is stored. With its rule and event, this is all that a worker needs to continue it. */
export interface ExecutionRecord {
  readonly id: string
  /** The rule, or the subscription of a delivery. */
  readonly handlerId: string
  readonly ruleVersion: number
  status: ExecutionStatus
  error: string | null
  /** Why it is suppressed. */
  suppression?: Suppression
  /** One for each action that was begun: also the journal of calls. */
  results: ActionResult[]
  readonly startedAt: Date
  finishedAt: Date | null
  /** When a worker has to claim it; null where it is finished, and while this worker holds it. */
  dueAt: Date | null
  /** The claim that it belongs to; null where no worker holds it. */
  lease: string | null
  /** True while it waits for a slot of the gate: if its worker ends meanwhile, the execution did not end it. */
  awaitsSlot: boolean
  /** The event that it waits for, if it does. */
  wait?: OpenWait
  /** How many workers in a row have ended while they made its call or advanced it. A call that is settled begins the row anew. */
  interruptions: number
  /** How often it was reopened. */
  readonly reopened: number
  /** What somebody should look at. */
  attention: 'unknown_outcome' | 'event_loop' | 'work_budget' | 'event_budget' | null
}

/** What an execution waits for when it is recorded. */
export function openWaitOf({ status, wait }: ExecutionRecord): OpenWait | undefined {
  return status === 'waiting' ? wait : undefined
}

export function waitColumnsOf(record: ExecutionRecord): object {
  const wait = openWaitOf(record)
  if (wait) return { wait_key: wait.key, wait_type: wait.eventType, wait_seen: wait.seen }
  return awaitsDecision(record) ? { wait_key: record.id, wait_type: decisionType } : {}
}

function awaitsDecision({ status, results }: ExecutionRecord): boolean {
  return (
    status === 'waiting' &&
    results.some((result) => result?.status === 'scheduled' && result.waitsFor?.eventType === decisionType)
  )
}

/** An execution with its event, and the effects since it was last recorded: they are committed with it. */
export interface RecordableExecution {
  readonly record: ExecutionRecord
  readonly event: LoadedEvent
  /** Undefined where the rule has no `perKey`, and in an execution by hand, which asks for nothing. */
  claim?: KeyToClaim | undefined
  tasks: TaskToCreate[]
  emitted: EmittedEvent[]
}

/** The key of an event for a rule, and what the rule remembers of its keys. */
export interface KeyToClaim {
  readonly keyId: string
  readonly key: string
  readonly perKey: CompiledPerKey
  /** Of its template: that it gives nothing. */
  readonly warnings: readonly string[]
}

export interface TaskToCreate {
  /** Computed (taskIdOf), so that a repeated commit finds its own task. */
  id: string
  actionIndex: number
  title: string
  description: string | null
  assigneeId: string | null
  priority: string
  dueAt: Date | null
  createdAt: Date
}

export interface EmittedEvent extends NewEvent {
  actionIndex: number
  /** Of EMIT_EVENT actions between it and an event from outside. */
  depth: number
  /** That event from outside. */
  rootId: string
  /** The job that carries it, and others that its execution emitted: the id of the first of them. */
  jobId: string
}
