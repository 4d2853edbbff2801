import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import {
  findFreePort,
  findServerUser,
  type RunningProcess,
  runProcess,
  waitUntilReady,
} from '@automation/launcher'
import type { Stage } from '../disaster.js'
import { MissingProgram } from './programs.js'
import { giveToServers } from './server-process.js'

/** A pooler in transaction mode, set up as the documents say. */
export interface PgBouncer extends RunningProcess {
  version: string
  /** The same database through it. */
  url: string
}

/**
 * @param serverUrl where it connects to
 * @throws MissingProgram where it is too old for prepared statements in transaction mode
 */
export async function startPgBouncer(stage: Stage, serverUrl: string): Promise<PgBouncer> {
  const command = stage.programs.pgBouncer
  const version = await readVersion(command)
  const home = `${stage.directory}/pgbouncer`
  await mkdir(home)
  await giveToServers(home)
  const port = await findFreePort()
  const server = new URL(serverUrl)
  const users = `"${server.username}" "${server.password}"\n`
  for (const [name, text] of [
    ['users.txt', users],
    ['pgbouncer.ini', settings(home, port, server)],
  ] as const) {
    await writeFile(`${home}/${name}`, text, { mode: 0o600 })
    await giveToServers(`${home}/${name}`)
  }
  const { running } = await runProcess({
    ...{
      name: 'PgBouncer',
      command,
      args: [`${home}/pgbouncer.ini`],
      log: `${home}/pgbouncer.out`,
      cwd: home,
    },
    user: await findServerUser(),
    signals: { stop: 'SIGINT', force: 'SIGKILL' },
  })
  await waitUntilReady(running, () => isListening(port))
  server.port = String(port)
  return { ...running, version, url: server.href }
}

function settings(home: string, port: number, server: URL): string {
  return `[databases]
* = host=127.0.0.1 port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${home}/users.txt
pool_mode = transaction
max_prepared_statements = 200
ignore_startup_parameters = statement_timeout, idle_in_transaction_session_timeout, options
default_pool_size = 40
max_client_conn = 500
server_login_retry = 1
logfile = ${home}/pgbouncer.log
`
}

async function readVersion(command: string): Promise<string> {
  const { stdout } = await promisify(execFile)(command, ['--version'])
  const [, version = '0.0'] = /PgBouncer (\S+)/.exec(stdout) ?? []
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > 1 || minor >= 21) return version
  throw new MissingProgram(
    `PgBouncer ${version} (${command}) knows no prepared statements in transaction mode: put a PgBouncer of 1.21 or newer on the PATH.`,
  )
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
  }).finally(() => socket.destroy()) as Promise<boolean>
}
