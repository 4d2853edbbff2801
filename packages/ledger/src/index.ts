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
export { acknowledge, groupedErrorLength, unacknowledge } from './by-hand/acknowledge.js'
export { cancelExecution, cancelMany, countCancellable } from './by-hand/cancel-executions.js'
export { countMatches, type Matches, maxCounted } from './by-hand/count-matches.js'
export { joinNarrowing, type Narrowing } from './by-hand/narrowing.js'
export {
  lockDecision,
  recordDecision,
} from './by-hand/record-decision.js'
export { countRetryable, reopenExecutions, type VersionToRun } from './by-hand/reopen-executions.js'
export { countsOf } from './counters/counts-of.js'
export { clearAttention, createCounters, lockCounters, markAutoPaused } from './counters/rule-counters.js'
export { sizeRules } from './counters/size-rules.js'
export { addCounts, type ErasedCounts, erasedKinds, eraseEvents } from './erasure/erase-events.js'
export { eraseReaders } from './erasure/erase-readers.js'
export { eraseRows, type RowsPosition } from './erasure/erase-rows.js'
export { heldColumns, otherColumns } from './erasure/held-columns.js'
export {
  isLeftOut,
  listEvaluations,
  type MatchedEvaluation,
  type Outranked,
  type RuleEvaluation,
  writeOutranked,
} from './evaluations.js'
export { closeBatch } from './keys/batches.js'
export { findCollected, readCollected } from './keys/collected.js'
export { finishKeyedEvents } from './keys/finish-keyed-events.js'
export { waitsForKey } from './keys/never-due.js'
export { queuedKeyOf, recordKeyedSteps } from './keys/record-keyed-steps.js'
export { FreeQueues } from './keys/wake-queues.js'
export { countHighRows } from './leaves/count-high-rows.js'
export {
  createExchangeUndo,
  createExchangeWait,
  createLeafExchange,
  type KeptLeaves,
} from './leaves/exchange.js'
export { histories } from './leaves/histories.js'
export { holdLeaves } from './leaves/hold-leaves.js'
export { readLeafWaits } from './leaves/read-leaf-waits.js'
export { mayExchange, readWholeFrom } from './leaves/whole-from.js'
export { mayRunSql } from './may-run.js'
export { copyLate } from './moving/copy-late.js'
export { hasArrived, type Move, type Pass, prepareMove, readState } from './moving/move.js'
export {
  copyPass,
  hasBacklog,
  inTurn,
  isQuiet,
  mostWaiting,
  openAtTarget,
  parkAll,
  refuseOpening,
  removeCopy,
} from './moving/move-workspace.js'
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
export { type FollowUps, isToBePaused, noteStored } from './outcomes/follow-ups.js'
export { recordSteps, type Step } from './outcomes/record-steps.js'
export { findSuspended, isSuspendedSql } from './parking/is-suspended.js'
export { parkEvents, parkExecutions } from './parking/park.js'
export { unparkSome } from './parking/unpark.js'
export { type Audit, auditLedger } from './reconciliation/reconcile.js'
export { faultKinds, type InconsistencyKind } from './reconciliation/slice.js'
export { dayMs } from './removal/keeping-executions.js'
export type { Removal, Transaction } from './removal/removal.js'
export { createClaimRemoval } from './removal/remove-claims.js'
export { removeExcessVersions } from './removal/remove-excess-versions.js'
export { createHistoryRemoval } from './removal/remove-history.js'
export { createTaskRemoval } from './removal/remove-tasks.js'
export { createUnusedRemovals } from './removal/remove-unused.js'
export { createWorkspaceRemoval } from './removal/remove-workspaces.js'
export { workspaceTables } from './removal/workspace-tables.js'
export { makeTicks } from './schedules/make-ticks.js'
export { areSilencesDue, lookAtSilences, type Silence } from './silences/look-at-silences.js'
export {
  cancelledByHand,
  type ExecutionStatus,
  executionStatuses,
  isUnfinished,
  retryableStatuses,
} from './statuses.js'
export { inTurns, ownerSql } from './turns/in-turns.js'
export { BacklogWalk } from './unfinished/backlog-walk.js'
export {
  cancelWaiting,
  continueCancellations,
  countCancellations,
  isBeingCancelled,
} from './unfinished/cancel-waiting.js'
export { type ClaimedExecution, claimExecutions } from './unfinished/claim-executions.js'
export { countWaiting } from './unfinished/count-waiting.js'
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
export { findQuarantineReason, maxRefusals, noteRefusal } from './unfinished/refused-events.js'
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
  type StoredDecision,
  tooManySeen,
  type WokenExecution,
} from './waits/open-wait.js'
export { wakeOn } from './waits/wake-waits.js'
