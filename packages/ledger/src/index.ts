export { acceptDeliveries, type Delivery } from './acceptance/accept-deliveries.js'
export {
  acceptEvents,
  type CarriedEvent,
  type NewEvent,
  type NewReceipt,
} from './acceptance/accept-events.js'
export { acceptOnce, keyHours, type OnceOnly, type RequestKey } from './acceptance/accept-once.js'
export { findReceipts, type StoredReceipt } from './acceptance/find-receipts.js'
export { noteRepeat } from './acceptance/note-repeat.js'
export { type AddressColumns, type Addressee, addresseeOf } from './addressee.js'
export { countsOf } from './counters/counts-of.js'
export { clearAttention, createCounters, lockCounters, markAutoPaused } from './counters/rule-counters.js'
export { sizeRules } from './counters/size-rules.js'
export {
  listEvaluations,
  type MatchedEvaluation,
  type Outranked,
  type RuleEvaluation,
  writeOutranked,
} from './evaluations.js'
export { acknowledge, findAcknowledged, unacknowledge } from './history/acknowledge.js'
export { cancelExecution, cancelMany, countCancellable } from './history/cancel-executions.js'
export {
  type ConsideredRule,
  type EvaluatedEvent,
  findUnconsidered,
  listConsidered,
  readEvaluatedEvent,
} from './history/considered-rules.js'
export {
  type CountsByTime,
  countByRule,
  countByTime,
  longestCountedMs,
  maxCountedByTime,
  type RuleCounts,
} from './history/count-by-time.js'
export { countEmitted } from './history/count-emitted.js'
export { countMatches, maxCounted } from './history/count-matches.js'
export { countRuns } from './history/count-runs.js'
export {
  type DecisionRow,
  type DecisionStatus,
  listDecisions,
  lockDecision,
  lookAtDecision,
  readDecisionRow,
  recordDecision,
} from './history/decisions.js'
export { findNewerEvents, mostNewer } from './history/find-newer-events.js'
export { type FailureGroup, groupFailures, maxGroupedFailures } from './history/group-failures.js'
export {
  type EventProgress,
  type EventRow,
  type EventState,
  type ListedEventRow,
  listEvents,
  listEventsByIds,
  narrowEvents,
  readProgress,
} from './history/list-events.js'
export {
  type ExecutionFilter,
  type ListedExecutionRow,
  listExecutions,
  narrowExecutions,
  narrowToExecution,
} from './history/list-executions.js'
export { type ListedTaskRow, listTasks } from './history/list-tasks.js'
export {
  listUnstarted,
  type UnstartedRow,
  type UnstartedStatus,
  unstartedStatuses,
} from './history/list-unstarted.js'
export { areSilencesDue, lookAtSilences, type Silence } from './history/look-at-silences.js'
export type { Narrowing } from './history/narrowing.js'
export { readSmallData } from './history/read-small-data.js'
export { findRecordedEnds, type RecordedEnds } from './history/recorded-ends.js'
export type { Removal, Transaction } from './history/removal.js'
export { createClaimRemoval } from './history/remove-claims.js'
export { removeExcessVersions } from './history/remove-excess-versions.js'
export { createHistoryRemoval, dayMs } from './history/remove-history.js'
export { createTaskRemoval } from './history/remove-tasks.js'
export { createUnusedRemovals } from './history/remove-unused.js'
export { countRetryable, reopenExecutions, type VersionToRun } from './history/reopen-executions.js'
export { countReplayable, findReplayable, type ReplayableEvent } from './history/replayable-events.js'
export { findSampleEvents, maxSampleBytes } from './history/sample-events.js'
export {
  type ScanLimits,
  type Scanned,
  type ScannedEvent,
  type ScanRange,
  scanEvents,
} from './history/scan-events.js'
export { findSettled } from './history/settled-until.js'
export { type EventInWorkspace, findOutcomes, type StoredOutcome } from './history/stored-outcomes.js'
export { closeBatch } from './keys/batches.js'
export { findCollected, readCollected } from './keys/collected.js'
export { finishKeyedEvents } from './keys/finish-keyed-events.js'
export { waitsForKey } from './keys/never-due.js'
export { queuedKeyOf, recordKeyedSteps } from './keys/record-keyed-steps.js'
export { FreeQueues } from './keys/wake-queues.js'
export { mayRunSql } from './may-run.js'
export { capError, capResults, maxErrorLength, maxResultsBytes } from './outcomes/cap-results.js'
export {
  type EmittedEvent,
  type ExecutionRecord,
  type KeyToClaim,
  openWaitOf,
  type RecordableExecution,
  type TaskToCreate,
} from './outcomes/execution-record.js'
export { type Finished, finishEvents, type Outcome } from './outcomes/finish-events.js'
export { type FollowUps, isToBePaused, noteCancelled } from './outcomes/follow-ups.js'
export { recordSteps, type Step } from './outcomes/record-steps.js'
export { type Audit, auditLedger } from './reconciliation/reconcile.js'
export { faultKinds, type InconsistencyKind } from './reconciliation/slice.js'
export { makeTicks } from './schedules/make-ticks.js'
export {
  cancelledByHand,
  type ExecutionStatus,
  executionStatuses,
  isUnfinished,
  retryableStatuses,
} from './statuses.js'
export { BacklogWalk } from './unfinished/backlog-walk.js'
export {
  cancelWaiting,
  continueCancellations,
  countCancellations,
  isBeingCancelled,
} from './unfinished/cancel-waiting.js'
export { type ClaimedExecution, claimExecutions } from './unfinished/claim-executions.js'
export { countWaiting } from './unfinished/count-waiting.js'
export { endOrphanEvents, endOrphanExecutions } from './unfinished/end-orphans.js'
export { findOrigins, type Origin } from './unfinished/find-origins.js'
export { heapBytesOf } from './unfinished/heap-bytes.js'
export {
  type HeldLease,
  leaseSeconds,
  releaseLeases,
  renewLeases,
  withdrawInterruptions,
} from './unfinished/leases.js'
export { type LoadedEvent, loadEvents, loadIsolated } from './unfinished/load-events.js'
export { createOldestDue, markEvents, markExecutions } from './unfinished/oldest-due.js'
export { findOldestUndone } from './unfinished/oldest-undone.js'
export { maxCrashes, noteCrash, withdrawCrash } from './unfinished/poison-events.js'
export { blameRules, noteRule, passRules } from './unfinished/poison-rules.js'
export {
  type UnclaimedExecution,
  type UndoneEvent,
  type Unfinished,
  walkEvents,
  walkExecutions,
} from './unfinished/unfinished-work.js'
export { findEndingEvents } from './waits/find-ending-events.js'
export { TimeOuts } from './waits/find-time-outs.js'
export {
  maxOpenWaits,
  nothingSeen,
  type OpenWait,
  tooManySeen,
  type WokenExecution,
} from './waits/open-wait.js'
export { wakeOn } from './waits/wake-waits.js'
