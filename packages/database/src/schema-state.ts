import { describeDatabaseError, isTableMissing } from './database-errors.js'
import { findMissing, type Migration, OtherTables, readAppliedSql } from './migrations.js'
import type { Database } from './open.js'

/**
 * @returns the migrations of this build that have not been applied
 * @throws OtherTables, or where Postgres is away
 */
export async function findMissingMigrations(database: Database): Promise<string[]> {
  return findMissing(await readApplied(database))
}

/**
 * Describes why a starting process still has to wait for the database; undefined where it does not.
 *
 * @throws OtherTables if it would wait in vain
 */
export async function findDatabaseFault(database: Database): Promise<string | undefined> {
  try {
    const missing = await findMissingMigrations(database)
    if (missing.length === 0) return undefined
    return `the database lacks ${missing.length} ${missing.length === 1 ? 'migration' : 'migrations'} (npm run migrate)`
  } catch (error) {
    if (error instanceof OtherTables) throw error
    return `Postgres is unavailable (${describeDatabaseError(error)})`
  }
}

async function readApplied(database: Database): Promise<Pick<Migration, 'name' | 'checksum'>[]> {
  try {
    return await database.run('read_migrations', readAppliedSql, [])
  } catch (error) {
    // Postgres responds, but no migration was ever applied.
    if (isTableMissing(error)) return []
    throw error
  }
}
