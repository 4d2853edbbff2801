export {
  type ConsideredRule,
  type EvaluatedEvent,
  findUnconsidered,
  listConsidered,
  readEvaluatedEvent,
} from './considered-rules.js'
export {
  type CountsByTime,
  countByRule,
  countByTime,
  longestCountedMs,
  maxCountedByTime,
  type RuleCounts,
} from './count-by-time.js'
export { countEmitted } from './count-emitted.js'
export { countErasable } from './count-erasable.js'
export { countRuns } from './count-runs.js'
export { findAcknowledged } from './find-acknowledged.js'
export {
  findLost,
  findMismatch,
  type Lost,
  type LostCall,
  type LostRow,
  readClusterPlace,
} from './find-lost.js'
export { findNewerEvents, mostNewer } from './find-newer-events.js'
export { type FailureGroup, groupFailures, maxGroupedFailures } from './group-failures.js'
export { type DecisionRow, type DecisionStatus, listDecisions, readDecisionRow } from './list-decisions.js'
export {
  type EventProgress,
  type EventRow,
  type EventState,
  type ListedEventRow,
  listEvents,
  listEventsByIds,
  narrowEvents,
  readProgress,
} from './list-events.js'
export {
  type ExecutionFilter,
  type ListedExecutionRow,
  listExecutions,
  narrowExecutions,
  narrowToExecution,
} from './list-executions.js'
export { type ListedTaskRow, listTasks, narrowTasks } from './list-tasks.js'
export {
  listUnstarted,
  type UnstartedRow,
  type UnstartedStatus,
  unstartedStatuses,
} from './list-unstarted.js'
export {
  mostCounted,
  type Ranking,
  rankWorkspaces,
  type WorkspaceFigure,
  workspaceFigures,
} from './rank-workspaces.js'
export { readSmallData } from './read-small-data.js'
export { findRecordedEnds, type RecordedEnds } from './recorded-ends.js'
export { countReplayable, findReplayable, type ReplayableEvent } from './replayable-events.js'
export { type RestoredWork, readRestoredWork } from './restored-work.js'
export { findSampleEvents, maxSampleBytes } from './sample-events.js'
export {
  type ScanLimits,
  type Scanned,
  type ScannedEvent,
  type ScanRange,
  scanEvents,
  type Visit,
} from './scan-events.js'
export { type ScannedRow, scanRows } from './scan-rows.js'
export { targetsToScan, tasksToScan } from './scanned-rows.js'
export { findSettled } from './settled-until.js'
export { type EventInWorkspace, findOutcomes, type StoredOutcome } from './stored-outcomes.js'
