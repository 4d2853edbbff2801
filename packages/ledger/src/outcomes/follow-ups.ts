import { postgresNow } from '@automation/database'
import type { Delivery } from '../acceptance/accept-deliveries.js'
import { cancelledByHand } from '../statuses.js'
import type { WokenExecution } from '../waits/open-wait.js'
import type { ExecutionRecord, RecordableExecution } from './execution-record.js'

/** One row that finishEvents or recordSteps returns. */
export interface ReturnedRow {
  /**
   * - `held`: the lease of an execution that this worker continues
   * - `overtaken`: an event that another delivery finished first
   * - `recorded`: an execution whose step was recorded
   * - `cancelled`: an execution that was recorded as cancelled, since what it belongs to was switched off
   * - `withdrawn`: an execution that was recorded as cancelled, since somebody cancelled it
   * - `decided`: an execution that is due at once, since the decision that it would wait for is made
   * - `delivery`: an event that was inserted for a subscription
   * - `failing`: a rule whose last execution has failed
   */
  what: 'held' | 'overtaken' | 'recorded' | 'cancelled' | 'withdrawn' | 'decided' | 'delivery' | 'failing'
  /** null for a rule. */
  id: string
  workspaceId: string
  /** The subscription of a delivery, or the rule that is failing; null otherwise. */
  subjectId: string
  /** In a row. */
  failures: number
}

/** What has to follow a commit. */
export interface FollowUps {
  /** Events for subscriptions, which have no job yet. */
  deliveries: Delivery[]
  /** Rules that have failed as often in a row as they may, or may have: pauseRules looks again. */
  failingRules: FailingRule[]
  /** Executions that waited for an event, and are due now. */
  woken?: WokenExecution[]
}

export function addWoken(followUps: FollowUps | undefined, woken: WokenExecution[]): FollowUps | undefined {
  if (woken.length === 0) return followUps
  const all = [...(followUps?.woken ?? []), ...woken]
  return { deliveries: [], failingRules: [], ...followUps, woken: all }
}

export interface FailingRule {
  workspaceId: string
  ruleId: string
}

export function pickIds(rows: ReturnedRow[], ...wanted: ReturnedRow['what'][]): Set<string> {
  return new Set(rows.flatMap(({ what, id }) => (wanted.includes(what) ? id : [])))
}

/**
 * Notes in their records which executions may not go on: they are stored as cancelled; and which are due at once. It comes after the commit, since one
 * that is rolled back has changed none.
 */
export function noteStored(rows: ReturnedRow[], executions: RecordableExecution[]): void {
  const cancelled = pickIds(rows, 'cancelled')
  const withdrawn = pickIds(rows, 'withdrawn')
  const decided = pickIds(rows, 'decided')
  if (cancelled.size + withdrawn.size + decided.size === 0) return
  for (const execution of executions) {
    const { record, event } = execution
    if (decided.has(record.id)) record.dueAt = new Date(postgresNow())
    else if (withdrawn.has(record.id)) {
      // What it did in this step was not stored.
      Object.assign(execution, { tasks: [], emitted: [] })
      noteEnd(record, cancelledByHand)
    } else if (cancelled.has(record.id) && record.dueAt !== null)
      noteEnd(
        record,
        `The ${event.addressee?.kind === 'subscription' ? 'subscription' : 'rule'} was switched off`,
      )
  }
}

function noteEnd(record: ExecutionRecord, error: string): void {
  Object.assign(record, {
    status: 'cancelled',
    error,
    dueAt: null,
    lease: null,
    attention: null,
    finishedAt: new Date(postgresNow()),
  })
}

/** A rule that needs too much work costs every other tenant, so it is paused even if its workspace never pauses rules. */
const overrunsBeforePause = 3

/**
 * @param failures of the rule, in a row
 * @param autoPauseAfter of its workspace; null: never
 * @param attention of its last execution that needed some, or because it ended workers (blameRules)
 */
export function isToBePaused(
  failures: number,
  autoPauseAfter: number | null,
  attention: string | null,
): boolean {
  if (attention === 'worker_crashes') return true
  const limit = autoPauseAfter ?? Number.POSITIVE_INFINITY
  return failures >= (attention === 'work_budget' ? Math.min(limit, overrunsBeforePause) : limit)
}

/**
 * @param repeated executions that were recorded before, by a statement whose response was lost: nothing is known of the failures of their rules,
 * so all that have failed are to be checked
 * @returns undefined where nothing follows, as after almost every commit
 */
export function readFollowUps(
  rows: ReturnedRow[],
  executions: RecordableExecution[],
  repeated: RecordableExecution[],
): FollowUps | undefined {
  const inserted = rows.filter(({ what }) => what === 'delivery')
  const failing = rows.filter(({ what }) => what === 'failing')
  const unknown = repeated.filter(({ record }) => record.status === 'failed')
  if (inserted.length + failing.length + unknown.length === 0) return undefined
  const limits = new Map(executions.map(({ event }) => [event.workspaceId, event.autoPauseAfter]))
  const overrun = new Set(
    executions
      .filter(({ record }) => record.attention === 'work_budget')
      .map(({ record }) => record.handlerId),
  )
  const deliveries = inserted.map(({ id, workspaceId, subjectId }): Delivery => {
    return { id, workspaceId, addressee: { kind: 'subscription', id: subjectId } }
  })
  const failingRules = failing
    .filter(({ workspaceId, subjectId, failures }) =>
      isToBePaused(failures, limits.get(workspaceId) ?? null, overrun.has(subjectId) ? 'work_budget' : null),
    )
    .map(({ workspaceId, subjectId }) => ({ workspaceId, ruleId: subjectId }))
  for (const { event, record } of unknown)
    failingRules.push({ workspaceId: event.workspaceId, ruleId: record.handlerId })
  return { deliveries, failingRules }
}
