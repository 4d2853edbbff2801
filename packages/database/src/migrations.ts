import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { prismaDirectory } from './schema-engine.js'

const migrationsDirectory = `${prismaDirectory}/migrations`

export interface Migration {
  name: string
  sql: string
  /** As Prisma computes it. */
  checksum: string
}

/** The database has tables that no migration of this version made. No wait mends that. */
export class OtherTables extends Error {
  override name = 'OtherTables'

  constructor() {
    super(
      'the database has tables of a development version from before the first release, or of another program: ' +
        'create an empty database and name it in DATABASE_URL',
    )
  }
}

/** Names of the migrations, oldest first. Tests name a directory of their own. */
export async function listMigrations(directory = migrationsDirectory): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true })
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort()
}

export async function readMigration(name: string, directory = migrationsDirectory): Promise<Migration> {
  const sql = await readFile(`${directory}/${name}/migration.sql`, 'utf8')
  return { name, sql, checksum: hash('sha256', sql) }
}

export const readAppliedSql = `
  SELECT migration_name AS name, checksum FROM _prisma_migrations
  WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`

/** @returns how many migrations were applied that this version does not have: a newer one has made them */
export async function countUnknown(applied: Pick<Migration, 'name'>[], directory?: string): Promise<number> {
  const names = await listMigrations(directory)
  return applied.filter(({ name }) => !names.includes(name)).length
}

/**
 * @param applied the rows of `readAppliedSql`. More than the migrations of this version are fine: during a rolling upgrade the old processes
 * go on with the new schema
 * @returns the names of the migrations that are not applied, oldest first
 * @throws OtherTables if the first migration is not the one of this version
 */
export async function findMissing(
  applied: Pick<Migration, 'name' | 'checksum'>[],
  directory?: string,
): Promise<string[]> {
  const names = await listMigrations(directory)
  if (applied.length > 0) {
    const first = await readMigration(names[0] as string, directory)
    if (!applied.some(({ name, checksum }) => name === first.name && checksum === first.checksum))
      throw new OtherTables()
  }
  return names.filter((name) => !applied.some((one) => one.name === name))
}
