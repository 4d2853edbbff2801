import { readdir, readFile } from 'node:fs/promises'
import type pg from 'pg'
import { withMigrationLock } from './migration-lock.js'
import { prismaDirectory, withSchemaEngine } from './schema-engine.js'

const migrationsDirectory = `${prismaDirectory}/migrations`
const noFilters = { externalTables: [], externalEnums: [] }

/**
 * Migrates a database to the newest schema. Several processes may call it at the same time: they wait for each other.
 *
 * @param databaseUrl a `postgresql://` URL whose role may create tables
 * @returns the names of the migrations that were applied, in order; empty when there was nothing to do
 * @throws where Postgres is away, or a migration fails. After a lock timeout it may be called again. Checksums of applied migrations
 * are stored, and not compared
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const migrationsList = await readMigrations()
  const apply = () =>
    withSchemaEngine(databaseUrl, async (engine) => {
      try {
        const { appliedMigrationNames } = await engine.applyMigrations({ migrationsList, filters: noFilters })
        return appliedMigrationNames
      } catch (error) {
        const migrationName = findTimedOut(error)
        if (migrationName !== undefined) await engine.markMigrationRolledBack({ migrationName })
        throw error
      }
    })
  return withMigrationLock(databaseUrl, async (client) => ((await isCurrent(client)) ? [] : apply()))
}

/** Whether nothing is left to do: to load the engine takes 0.8 s of CPU. A migration that has failed is the engine's to report. */
async function isCurrent(client: pg.Client): Promise<boolean> {
  const { rows: tables } = await client.query(`SELECT to_regclass('_prisma_migrations') AS name`)
  if (tables[0].name === null) return false
  const { rows } = await client.query<{ name: string; isFinished: boolean }>(
    `SELECT migration_name AS name, finished_at IS NOT NULL AS "isFinished" FROM _prisma_migrations WHERE rolled_back_at IS NULL`,
  )
  const applied = new Set(rows.map(({ name }) => name))
  return (
    rows.every(({ isFinished }) => isFinished) && (await listMigrations()).every((name) => applied.has(name))
  )
}

/**
 * Finds the migration that waited too long for a lock. It has changed nothing, since a statement that may wait has a migration of its
 * own. But the engine refuses all later migrations until this one is marked as rolled back.
 */
function findTimedOut(error: unknown): string | undefined {
  const { message } = error as Error
  return /due to lock timeout.*migration_name="(\w+)"/s.exec(message)?.[1]
}

/**
 * Writes the SQL that changes one Prisma schema into another; an empty one where `from` is omitted. The engine requires a live
 * connection, though the result does not depend on it.
 */
export async function diffSchemas(
  databaseUrl: string,
  from: string | undefined,
  to: string,
): Promise<string> {
  const target = (content: string) => ({
    tag: 'schemaDatamodel' as const,
    files: [{ path: 'schema.prisma', content }],
  })
  const { stdout } = await withSchemaEngine(databaseUrl, (engine) =>
    engine.diff({
      from: from === undefined ? { tag: 'empty' } : target(from),
      to: target(to),
      script: true,
      exitCode: null,
      filters: noFilters,
    }),
  )
  return stdout ?? ''
}

/** Names of the migrations in the repository, oldest first. */
export async function listMigrations(): Promise<string[]> {
  const entries = await readdir(migrationsDirectory, { withFileTypes: true })
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort()
}

async function readMigrations() {
  const names = await listMigrations()
  return {
    baseDir: migrationsDirectory,
    shadowDbInitScript: '',
    lockfile: {
      path: 'migration_lock.toml',
      content: await readFile(`${migrationsDirectory}/migration_lock.toml`, 'utf8'),
    },
    migrationDirectories: await Promise.all(
      names.map(async (name) => ({
        path: name,
        migrationFile: {
          path: 'migration.sql',
          content: {
            tag: 'ok' as const,
            value: await readFile(`${migrationsDirectory}/${name}/migration.sql`, 'utf8'),
          },
        },
      })),
    ),
  }
}
