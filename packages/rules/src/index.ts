export { arrangeRule } from './arrange-rule.js'
export { type BacktestRange, completeRange, findOrderFaults } from './backtests/backtest-range.js'
export {
  BacktestPace,
  BacktestToCreate,
  ListedBacktest,
  StoredBacktest,
} from './backtests/backtest-schemas.js'
export {
  type ClaimedBacktest,
  claimBacktest,
  countBacktests,
  delayBacktest,
  failBacktest,
  type GivenBack,
  storeSlice,
} from './backtests/backtest-slices.js'
export { activeVersionOf, definitionToTest, readActiveVersion } from './backtests/backtest-subject.js'
export { askForDifference, type Compared, findDifference } from './backtests/differences.js'
export { findHistoryFrom, readHistoryFrom } from './backtests/history-from.js'
export {
  cancelBacktest,
  createBacktest,
  findBacktest,
  isBacktestRunning,
  isBacktestUnfinished,
  listBacktests,
} from './backtests/stored-backtests.js'
export { changeRules, pauseRules } from './change-rules.js'
export { checkRuleFile, maxRuleBytes, RuleFileSchema } from './check-rule-file.js'
export { readClosedSeconds } from './closed-workspaces.js'
export { createRules } from './create-rules.js'
export { deleteCredential, findWarningsOfCredentials, listMissingCredentials } from './credentials.js'
export { deleteRules } from './delete-rules.js'
export { type DraftRow, deleteDraft, promoteDraft, saveDraft } from './drafts.js'
export {
  createEmailTemplate,
  deleteEmailTemplate,
  EmailTemplate,
  findEmailTemplate,
  updateEmailTemplate,
} from './email-templates.js'
export {
  createEventType,
  deleteEventType,
  EventTypeToCreate,
  EventTypeToUpdate,
  OwnEventType,
  updateEventType,
} from './event-types.js'
export { findUnstorable, hasTooManyValues, maxDepth, maxNodes, TooLarge } from './find-unstorable.js'
export { findGuardFaults, GuardToSet, setGuard } from './guards.js'
export { importRules, type PlannedImport } from './import-rules.js'
export { observationLimits, observedEvents, observeTypes, typesOf } from './observe-types.js'
export { listOwnNames } from './own-names.js'
export { type ImportPlan, planImport } from './plan-import.js'
export { digestPlan, presentPlan } from './present-plan.js'
export { type GrantedDefinition, refuseForbidden, refuseOtherNames } from './refuse-beyond-grant.js'
export { maxDefinitionBytes } from './refuse-excess.js'
export { refuseExcessDeletions } from './refuse-excess-deletions.js'
export { findPlaceFaults, reorderGroup } from './reorder-group.js'
export { findRuleBodyFaults } from './rule-body.js'
export { createdEntry, deletedEntry, updatedEntry } from './rule-entries.js'
export {
  completeDefinition,
  type DefinitionFields,
  definitionOf,
  pickFields,
  type RuleFields,
} from './rule-fields.js'
export { exportRules, type RuleFile } from './rule-file.js'
export { findGroupFaults, settleGroup } from './rule-group.js'
export { completeMode, isShadow, modeOf, RuleMode } from './rule-mode.js'
export { findTriggerFaults, settleSchedule } from './rule-schedule.js'
export {
  DraftToSave,
  ExpectEvery,
  FullDefinition,
  maxRules,
  omittedInFiles,
  RuleToCreate,
  RuleToUpdate,
} from './rule-schemas.js'
export { type Saved, saveRules } from './save-rules.js'
export { reportSilence } from './silence/report-silence.js'
export {
  EmailTemplateToCreate,
  EmailTemplateToUpdate,
  findEmailTemplateFaults,
  maxTemplates,
} from './template-schemas.js'
export { selectWaitedPaths } from './waited-paths.js'
export { areGuardsDue, type ClaimedGuard, type Crossing, checkGuard, claimGuards } from './watch-guards.js'
export {
  closeWorkspace,
  deleteWorkspace,
  graceDays,
  keepWorkspace,
  openWorkspace,
  resumeWorkspace,
  suspendWorkspace,
} from './workspace-states.js'
