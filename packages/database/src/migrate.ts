import { readdir, readFile } from 'node:fs/promises'
import { prismaDirectory, withSchemaEngine } from './schema-engine.js'

const migrationsDirectory = `${prismaDirectory}/migrations`
const noFilters = { externalTables: [], externalEnums: [] }

/**
 * Brings a database to the newest schema. Safe to call from many processes at once: the engine takes
 * Prisma's advisory lock.
 *
 * @param databaseUrl a `postgresql://` URL whose role may create tables
 * @returns the names of the migrations that were applied, in order; empty when there was nothing to do
 * @throws when Postgres is away, or a migration fails. After a lock timeout it may be called again. Checksums of applied migrations
 * are kept, and not compared
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const migrationsList = await readMigrations()
  const { appliedMigrationNames } = await withSchemaEngine(databaseUrl, async (engine) => {
    try {
      return await engine.applyMigrations({ migrationsList, filters: noFilters })
    } catch (error) {
      const migrationName = findTimedOut(error)
      if (migrationName !== undefined) await engine.markMigrationRolledBack({ migrationName })
      throw error
    }
  })
  return appliedMigrationNames
}

/**
 * The migration that waited too long for a lock. It has changed nothing, since what may wait stands alone in its migration, but the
 * engine would refuse every later run until somebody says so.
 */
function findTimedOut(error: unknown): string | undefined {
  const { message } = error as Error
  return /due to lock timeout.*migration_name="(\w+)"/s.exec(message)?.[1]
}

/**
 * The SQL that leads from one Prisma schema to another; from nothing where `from` is omitted.
 * The engine wants a live connection, though the answer does not depend on it.
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
