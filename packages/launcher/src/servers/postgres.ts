import { closeSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { findPostgresBinaries, type PostgresBinaries } from '../binaries/postgres-binaries.js'
import { findServerUser, type ServerUser } from '../binaries/server-user.js'
import { serverEnvironment } from '../environment.js'
import { openCluster } from './postgres-cluster.js'
import { runProcess, waitUntilReady } from './running-process.js'
import { type Server, startOnPort } from './server.js'
import { makeHome } from './server-home.js'
import { lockServer } from './server-lock.js'

export interface PostgresOptions {
  directory: string
  port?: number | undefined
  /** false: no fsync, for data that may be lost with the machine. A commit takes the same path through the server. */
  durable: boolean
  log?: string | undefined
  /** The `directory` of a stopped server that the first run copies, data and password. */
  copyOf?: string | undefined
  /** Default: those that npm installed, or of the PATH. */
  binaries?: PostgresBinaries | undefined
}

interface LockedOptions extends PostgresOptions {
  home: string
  user: ServerUser | undefined
  lock: number
}

/**
 * Starts a private Postgres, which serves nobody without its password, and creates its data directory on the first run. The
 * server of a killed launcher has to end first.
 *
 * @throws CannotStart if there is no Postgres for this machine, if another server works on the data, or if it does not start
 */
export async function startPostgres(options: PostgresOptions): Promise<Server> {
  const user = await findServerUser()
  const home = await makeHome(options.directory, user, 'Postgres')
  const lock = await lockServer(home, 'Postgres')
  try {
    return await startLocked({ ...options, home, user, lock })
  } finally {
    // From here on the server holds the lock.
    closeSync(lock)
  }
}

async function startLocked(options: LockedOptions): Promise<Server> {
  const { home, user, lock, port, durable, log, copyOf } = options
  const binaries = options.binaries ?? (await findPostgresBinaries(user))
  const cluster = await openCluster({ binaries, home, user, durable, copyOf })
  const pidFile = `${cluster.data}/postmaster.pid`
  // A stale pid file can block the start: Postgres trusts any live process with that number.
  await rm(pidFile, { force: true })

  return startOnPort(home, port, async (chosen) => {
    const { running } = await runProcess({
      name: 'Postgres',
      command: binaries.postgres,
      args: ['-D', cluster.data, '-p', `${chosen}`, ...settings(durable)],
      cwd: home,
      env: serverEnvironment(),
      user,
      log: log ?? `${home}/postgres.log`,
      // SIGINT ends the sessions and shuts down cleanly; SIGQUIT leaves the rest to recovery at the next start.
      signals: { stop: 'SIGINT', force: 'SIGQUIT' },
      lock,
    })
    await waitUntilReady(running, () => saysReady(pidFile, running.pid))
    const url = `postgresql://${cluster.user}:${cluster.password}@127.0.0.1:${chosen}/postgres`
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

/** Reads `postmaster.pid` as pg_ctl does: the first line is the pid, the eighth is the state. */
async function saysReady(pidFile: string, pid: number): Promise<boolean> {
  const lines = (await readFile(pidFile, 'utf8').catch(() => '')).split('\n')
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready'
}
