import { readdir } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { findIn } from './find-on-path.js'
import { findProgram } from './find-program.js'
import type { PostgresBinaries } from './postgres-binaries.js'

/** A Postgres with its client programs, which the one that npm installs lacks. */
export interface PostgresTools extends PostgresBinaries {
  /** The directory of pg_dump and pg_restore, of the same version. */
  bin: string
}

const debian = '/usr/lib/postgresql'

/**
 * Finds a Postgres with its client programs, for the tests of backups, and installs it if it is missing.
 *
 * @throws CannotStart with instructions if it cannot be installed
 */
export async function findPostgresTools(): Promise<PostgresTools> {
  const found = await findTools()
  if (found !== undefined) return found
  await findProgram({
    title: 'PostgreSQL with pg_dump',
    commands: [],
    aptPackage: 'postgresql',
    brewArguments: ['postgresql@18'],
    instructions:
      'Install PostgreSQL 15 or newer and put its bin directory on the PATH. Only the tests of backups need it.',
  }).catch(async (error) => {
    if ((await findTools()) === undefined) throw error
  })
  return (await findTools()) as PostgresTools
}

async function findTools(): Promise<PostgresTools | undefined> {
  const versions = await readdir(debian).catch(() => [])
  const newestFirst = versions.map(Number).sort((a, b) => b - a)
  const places = newestFirst.map((version) => join(debian, `${version}`, 'bin'))
  for (const bin of [...places, ...(process.env.PATH ?? '').split(delimiter)]) {
    const programs = ['initdb', 'postgres', 'pg_dump', 'pg_restore'].map((name) => findIn([bin], name))
    const [initdb, postgres, ...tools] = await Promise.all(programs)
    if (initdb && postgres && tools.every(Boolean)) return { bin, initdb, postgres }
  }
  return undefined
}
