export { readClock } from './clock.js'
export { countReads } from './count-reads.js'
export {
  DatabaseBusy,
  isDatabaseAway,
  isGivenUp,
  isLockConflict,
  isRowFault,
  isTableMissing,
} from './database-errors.js'
export { Prisma } from './generated/client.js'
export type { ExecutionStatus, Plan, Role } from './generated/enums.js'
export { groupCommit } from './group-commit.js'
export { executionIdOf, firstIdOf, isUuid, newId, ruleSetIdOf, timeOf } from './ids.js'
export { endOfTime, firstSliceMs, fitSlice, LowWaterMark } from './low-water-mark.js'
export { findMembership, type Membership } from './memberships.js'
export { diffSchemas, listMigrations, migrate } from './migrate.js'
export { createOldestDue, markEvents, markExecutions } from './oldest-due.js'
export { type Database, openDatabase, type WorkspaceDatabase, type WorkspaceTransaction } from './open.js'
export { countsOf } from './rule-counts.js'
export { findDatabaseFault, readSchemaState } from './schema-state.js'
export { takeTurns } from './take-turns.js'
