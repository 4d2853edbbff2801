export { createBatcher, createReadBatcher } from './batcher.js'
export { readClock } from './clock.js'
export {
  DatabaseBusy,
  describeDatabaseError,
  isDatabaseAway,
  isLockConflict,
  isOutOfMemory,
  isRowFault,
  isStatementCancelled,
  isTableMissing,
  isTooLarge,
  ReadTooLong,
} from './database-errors.js'
export { escapeLike } from './escape-like.js'
export { Prisma } from './generated/client.js'
export type { ExecutionStatus, Plan, Role } from './generated/enums.js'
export {
  clockSkewMs,
  executionIdOf,
  firstIdOf,
  highestId,
  highestIdLike,
  idNear,
  isTick,
  isUuid,
  keyIdOf,
  lowestId,
  lowestIdLike,
  newId,
  newTickId,
  ruleSetIdOf,
  tickIdOf,
  timeOf,
  waitKeyOf,
} from './ids.js'
export { createKeyedMutex } from './keyed-mutex.js'
export { migrate } from './migrate.js'
export { listMigrations, OtherTables } from './migrations.js'
export {
  type Database,
  keyedTransactions,
  openDatabase,
  type ReadLimits,
  readLimitsOf,
  type Statements,
  type TakeTurn,
  type UnscopedRows,
  type UnscopedSql,
  type WorkspaceDatabase,
  type WorkspaceReads,
  type WorkspaceTransaction,
} from './open.js'
export { findDatabaseFault, findMissingMigrations } from './schema-state.js'
