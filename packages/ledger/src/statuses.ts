import type { ExecutionStatus } from '@automation/database'

/**
 * The states of an execution: one rule's work for one event. Every statement that changes a state lives in this package.
 *
 *                      finishEvents                       recordSteps
 *   event ────────────────┬──────────▶ succeeded, failed ◀────┐
 *                         │                  │                │
 *                         │                  │ reopen         │
 *                         ▼                  ▼                │
 *                      running ──step──▶ waiting, retrying ───┤
 *                         ▲                  │     │          │
 *                         └─claimExecutions──┘     │          │
 *                                                  ▼          │
 *           cancelWaiting, cancelExecution ▶ cancelled ◀────┘ (its rule was switched off, or somebody cancelled it meanwhile)
 *
 *   event ── finishKeyedEvents ──▶ suppressed (perKey of its rule did not grant it), or as above
 *
 * - running: a worker holds it under a lease, or held it when the worker ended. `dueAt` is the end of the lease.
 * - waiting: a WAIT ends at `dueAt`, or its call, for which there was no room, is tried again. retrying: the next attempt of an action is at `dueAt`.
 *   Neither has a time while it waits for its key (keys/never-due.ts).
 * - An execution that would begin to wait after its rule was switched off is stored as cancelled, by finishEvents and recordSteps.
 * - One that somebody cancels while a worker holds it is marked (`cancelRequested`): its next step, whatever it is, is stored as cancelled.
 * - succeeded, failed, cancelled, suppressed: finished; `finishedAt` is set and `dueAt` is null.
 */
export const executionStatuses = [
  'running',
  'waiting',
  'retrying',
  'succeeded',
  'failed',
  'cancelled',
  'suppressed',
] as const satisfies ExecutionStatus[]
export type { ExecutionStatus }

const unfinished: ReadonlySet<string> = new Set<ExecutionStatus>(['running', 'waiting', 'retrying'])

/** Whether a worker holds the execution or has to claim it at its time. */
export function isUnfinished(status: string): boolean {
  return unfinished.has(status)
}

/** A finished execution in one of these states may be opened again, but not one that somebody cancelled. */
export const retryableStatuses = ['failed', 'cancelled'] as const satisfies ExecutionStatus[]

/** The error of an execution that somebody cancelled. The statement of record-steps.ts has the same text. */
export const cancelledByHand = 'It was cancelled'
