export { createBatcher, createReadBatcher } from './batcher.js'
export { clockAheadMs, isClockWrong, postgresNow } from './clock.js'
export {
  DatabaseBusy,
  describeDatabaseError,
  isDatabaseAway,
  isDiskFull,
  isLockConflict,
  isOutOfMemory,
  isReadOnly,
  isResponse,
  isRowFault,
  isStatementCancelled,
  isStatementTimeout,
  isTableMissing,
  isTooLarge,
  ReadTooLong,
} from './database-errors.js'
export { type DatabaseLimits, databaseLimitsOf, type ReadLimits } from './database-limits.js'
export {
  bodyFields,
  columnOf,
  type DefinitionField,
  declareFields,
  definitionFields,
  effectiveFields,
  isJsonField,
  keptFields,
  selectFields,
  sizeFields,
  summaryFields,
} from './definition-fields.js'
export { escapeLike } from './escape-like.js'
export { Prisma } from './generated/client.js'
export type { AddresseeKind, ExecutionStatus, Plan, Role } from './generated/enums.js'
export {
  clockSkewMs,
  executionIdOf,
  firstIdOf,
  firstTaskIdOf,
  highestId,
  highestIdLike,
  idNear,
  idRangeOf,
  isUuid,
  keyIdOf,
  lowestId,
  lowestIdLike,
  newId,
  ruleSetIdOf,
  taskIdOf,
  tickIdOf,
  timeOf,
  waitKeyOf,
} from './ids.js'
export { createKeyedMutex } from './keyed-mutex.js'
export {
  type AttachedLeaf,
  createLike,
  detachSql,
  mayChangeLeaves,
  readLeaves,
  type Transaction as LeafTransaction,
} from './leaves/leaf-tables.js'
export { isOld, type Kept, type Leaf, leafNameOf, lengthOf } from './leaves/plan-leaves.js'
export { attachAnewSql, prove } from './leaves/prove-range.js'
export { leavesLock, turnLeaves } from './leaves/turn-leaves.js'
export { withLock } from './leaves/with-lock.js'
export { migrate } from './migrate.js'
export { findMissing, listMigrations, type Migration, OtherTables, readAppliedSql } from './migrations.js'
export {
  type Database,
  keyedTransactions,
  openDatabase,
  type Statements,
  type TakeTurn,
  type UnscopedRows,
  type UnscopedSql,
  type WorkspaceDatabase,
  type WorkspaceReads,
  type WorkspaceTransaction,
} from './open.js'
export { openPatiently, patientLimitsOf } from './open-patiently.js'
export { PrimaryWatch } from './primary-watch.js'
export { readClock } from './read-clock.js'
export { findDatabaseFault, findMissingMigrations } from './schema-state.js'
export { toolEnvironment } from './tool-environment.js'
export { writeJson } from './write-json.js'
