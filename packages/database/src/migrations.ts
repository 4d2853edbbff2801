import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { prismaDirectory } from './schema-engine.js'

const directory = `${prismaDirectory}/migrations`

export interface Migration {
  name: string
  sql: string
  /** As Prisma computes it. */
  checksum: string
}

/** Names of the migrations in the repository, oldest first. */
export async function listMigrations(): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true })
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort()
}

export async function readMigration(name: string): Promise<Migration> {
  const sql = await readFile(`${directory}/${name}/migration.sql`, 'utf8')
  return { name, sql, checksum: hash('sha256', sql) }
}
