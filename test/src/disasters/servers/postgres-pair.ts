import { mkdir, rm, writeFile } from 'node:fs/promises'
import { type Server, startPostgres } from '@automation/launcher'
import pg from 'pg'
import { openTcpProxy, type TcpProxy } from '../../storm/tcp-proxy.js'
import type { Stage } from '../disaster.js'
import { giveToServers, runAsServer } from './server-process.js'

export type Replication = 'synchronous' | 'asynchronous'

/**
 * Two servers of Postgres behind one address: one is the primary, the other its standby by streaming replication.
 *
 *   address ──▶ first (primary) ┄┄▶ second (standby)         kill, promote:
 *   address ──▶ second (primary)    first (dead, or a primary that nobody may reach)
 */
export class PostgresPair {
  readonly #stage: Stage
  readonly #address: TcpProxy
  #first: Server
  #second: Server
  #primary: Server

  private constructor(stage: Stage, address: TcpProxy, first: Server, second: Server) {
    this.#stage = stage
    this.#address = address
    this.#first = first
    this.#second = second
    this.#primary = first
  }

  /** Starts both; the second one is made by pg_basebackup, as an operator would. */
  static async open(stage: Stage, replication: Replication): Promise<PostgresPair> {
    const first = await start(stage, 'first')
    // What pg_rewind needs to bring an old primary back.
    await query(first.url, 'ALTER SYSTEM SET wal_log_hints = on')
    await first.stop()
    const primary = await start(stage, 'first')
    const second = await makeStandby(stage, primary)
    let pair: PostgresPair | undefined
    const address = await openTcpProxy(() => (pair === undefined ? primary.port : pair.#primary.port))
    pair = new PostgresPair(stage, address, primary, second)
    if (replication === 'synchronous') {
      await query(primary.url, `ALTER SYSTEM SET synchronous_standby_names = '*'`)
      await query(primary.url, 'SELECT pg_reload_conf()')
      await waitFor(async () => (await pair.#standbyState()) === 'sync')
    } else await waitFor(async () => (await pair.#standbyState()) === 'async')
    return pair
  }

  /** Of the one address, which stays. */
  get url(): string {
    const url = new URL(this.#first.url)
    url.port = String(this.#address.port)
    return url.href
  }

  get address(): TcpProxy {
    return this.#address
  }

  get first(): Server {
    return this.#first
  }

  get second(): Server {
    return this.#second
  }

  get directories(): string[] {
    return [this.#first.directory, this.#second.directory]
  }

  /** With -9: its sessions hear nothing of it but the end of their connections. */
  async killPrimary(): Promise<void> {
    this.#primary.kill('SIGKILL')
    await this.#primary.exited
  }

  /** Makes the standby the primary, and leads the address to it. */
  async promote(): Promise<void> {
    await query(this.#second.url, 'SELECT pg_promote(true, 60)')
    this.#primary = this.#second
    this.#address.reset()
  }

  /** Starts the old primary again as what it was, on its own port: it knows nothing of the promotion. */
  async startOld(): Promise<Server> {
    this.#first = await start(this.#stage, 'first', this.#first.port)
    return this.#first
  }

  /** Makes the old primary a standby of the new one, as the runbook says. */
  async rejoin(): Promise<void> {
    await this.#first.stop()
    const data = `${this.#first.directory}/data`
    const { pgRewind } = this.#stage.programs
    await runAsServer(
      pgRewind,
      ['--target-pgdata', data, '--source-server', this.#second.url, '--write-recovery-conf'],
      this.#first.directory,
    )
    this.#first = await start(this.#stage, 'first', this.#first.port)
    await waitFor(async () => (await this.#standbyState()) !== undefined)
  }

  async stop(): Promise<void> {
    await this.#address.close()
    await this.#first.stop()
    await this.#second.stop()
  }

  async #standbyState(): Promise<string | undefined> {
    const [row] = await query<{ state: string }>(
      this.#primary.url,
      `SELECT sync_state AS state FROM pg_stat_replication WHERE state = 'streaming'`,
    )
    return row?.state
  }
}

/** One statement on a connection of its own. */
export async function query<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

function start({ directory, programs }: Stage, name: string, port?: number): Promise<Server> {
  const { initdb, postgres } = programs
  const home = `${directory}/${name}`
  const log = `${directory}/${name}.log`
  return startPostgres({ directory: home, port, durable: true, log, binaries: { initdb, postgres } })
}

async function makeStandby(stage: Stage, primary: Server): Promise<Server> {
  const home = `${stage.directory}/second`
  await mkdir(home)
  await giveToServers(home)
  const args = ['--pgdata', `${home}/data`, '--write-recovery-conf', '--checkpoint=fast']
  await runAsServer(stage.programs.pgBaseBackup, [...args, '--dbname', primary.url], stage.directory)
  await rm(`${home}/data/postmaster.pid`, { force: true })
  const password = new URL(primary.url).password
  await writeFile(`${home}/password`, password, { mode: 0o600 })
  return start(stage, 'second')
}

/** A server's own steps take their time; each ends, or the run does by its limit. */
async function waitFor(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 100))
}
