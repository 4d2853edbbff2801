import { describeDatabaseError, isTableMissing } from './database-errors.js'
import { listMigrations } from './migrations.js'
import type { Database } from './open.js'

export type SchemaState = { is: 'current' } | { is: 'pending'; missing: string[] }

/**
 * Whether every migration of this build has been applied. Additional migrations are fine: during a rolling upgrade the old processes
 * continue with the new schema.
 *
 * @throws where Postgres is away
 */
export async function readSchemaState(database: Database): Promise<SchemaState> {
  const [known, applied] = await Promise.all([listMigrations(), readApplied(database)])
  const missing = known.filter((name) => !applied.has(name))
  return missing.length === 0 ? { is: 'current' } : { is: 'pending', missing }
}

/** Describes why a starting process still has to wait for the database; undefined where it does not. */
export async function findDatabaseFault(database: Database): Promise<string | undefined> {
  try {
    const state = await readSchemaState(database)
    if (state.is === 'current') return undefined
    return `the database lacks ${state.missing.length} migrations (npm run migrate)`
  } catch (error) {
    return `Postgres is away (${describeDatabaseError(error)})`
  }
}

const readAppliedSql = `
  SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`

async function readApplied(database: Database): Promise<Set<string>> {
  try {
    const rows = await database.run<{ name: string }>('read_migrations', readAppliedSql, [])
    return new Set(rows.map(({ name }) => name))
  } catch (error) {
    // Postgres responds, but no migration was ever applied.
    if (isTableMissing(error)) return new Set()
    throw error
  }
}
