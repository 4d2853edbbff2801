import { execFile } from 'node:child_process'
import { access, chmod, chown, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { findPostgresBinaries } from '../binaries/postgres-binaries.js'
import { findServerUser, type ServerUser } from '../binaries/server-user.js'
import { CannotStart } from '../cannot-start.js'
import { stopLeftOver } from './left-over.js'
import { makeHome } from './postgres-home.js'
import { runProcess, waitUntilReady } from './running-process.js'
import { type Server, startOnPort } from './server.js'

export interface PostgresOptions {
  directory: string
  port?: number | undefined
  /** false: no fsync, for data that may be lost with the machine. A commit takes the same path through the server. */
  durable: boolean
  log?: string | undefined
}

/**
 * Starts a private Postgres and creates its data directory on the first run. If a killed launcher left a server running
 * on this directory, that server is stopped first.
 *
 * @throws CannotStart if there is no Postgres for this machine or it does not start
 */
export async function startPostgres({ directory, port, durable, log }: PostgresOptions): Promise<Server> {
  const user = await findServerUser()
  const binaries = await findPostgresBinaries(user)
  const home = await makeHome(directory, user)
  const data = `${home}/data`
  const pidFile = `${data}/postmaster.pid`
  await stopLeftOver(pidFile, `-D ${data} `, 'SIGINT')
  // A stale pid file can block the start: Postgres trusts any live process with that number.
  await rm(pidFile, { force: true })
  if (!(await hasData(data))) await initialise(binaries.initdb, home, user, durable)

  return startOnPort(home, port, async (chosen) => {
    const { running } = await runProcess({
      name: 'Postgres',
      command: binaries.postgres,
      args: ['-D', data, '-p', `${chosen}`, ...settings(durable)],
      cwd: home,
      env: { ...process.env, LC_ALL: 'C' },
      user,
      log: log ?? `${home}/postgres.log`,
      // SIGINT ends the sessions and shuts down cleanly; SIGQUIT leaves the rest to recovery at the next start.
      signals: { stop: 'SIGINT', force: 'SIGQUIT' },
    })
    await waitUntilReady(running, () => saysReady(pidFile, running.pid))
    const url = `postgresql://postgres@127.0.0.1:${chosen}/postgres`
    return { ...running, port: chosen, url, directory: home }
  })
}

function settings(durable: boolean): string[] {
  const values = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
    ...(durable ? [] : ['fsync=off', 'full_page_writes=off']),
  ]
  return values.flatMap((value) => ['-c', value])
}

async function hasData(data: string): Promise<boolean> {
  return access(data).then(
    () => true,
    () => false,
  )
}

/** Works under another name and then renames: an interrupted first start leaves no half-made directory behind. */
async function initialise(
  initdb: string,
  home: string,
  user: ServerUser | undefined,
  durable: boolean,
): Promise<void> {
  const unfinished = `${home}/data.new`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished)
  await chmod(unfinished, 0o700)
  if (user !== undefined) await chown(unfinished, user.uid, user.gid)
  const locale = process.platform === 'darwin' ? 'C' : 'C.UTF-8'
  const args = [
    '-D',
    unfinished,
    '--username=postgres',
    '--auth=trust',
    '--encoding=UTF8',
    `--locale=${locale}`,
  ]
  const identity = user === undefined ? {} : { uid: user.uid, gid: user.gid }
  await promisify(execFile)(initdb, durable ? args : [...args, '--no-sync'], {
    cwd: home,
    ...identity,
  }).catch((error: Error) => {
    throw new CannotStart(`Postgres could not create its data directory: ${error.message}`, { cause: error })
  })
  await rename(unfinished, `${home}/data`)
}

/** Reads `postmaster.pid` as pg_ctl does: the first line is the pid, the eighth is the state. */
async function saysReady(pidFile: string, pid: number): Promise<boolean> {
  const lines = (await readFile(pidFile, 'utf8').catch(() => '')).split('\n')
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready'
}
