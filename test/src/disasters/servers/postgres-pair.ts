import { mkdir, rm, writeFile } from 'node:fs/promises'
import { type Server, startPostgres } from '@automation/launcher'
import pg from 'pg'
import { until } from '../../fixtures/product.js'
import { openTcpProxy, type TcpProxy } from '../../storm/tcp-proxy.js'
import type { Stage } from '../disaster.js'
import { giveToServers, runAsServer } from './server-process.js'

/** Commits wait for a standby. */
const expectStandbySql = `ALTER SYSTEM SET synchronous_standby_names = '*'`

export type Replication = 'synchronous' | 'asynchronous'

/**
 * Two servers of Postgres behind one address: one is the primary, the other its standby by streaming replication.
 *
 *   address ──▶ first (primary) ┄┄▶ second (standby)         kill, promote:
 *   address ──▶ second (primary)    first (dead, or a primary that nobody may reach)
 */
export class PostgresPair {
  readonly #stage: Stage
  readonly #kind: Replication
  readonly #address: TcpProxy
  /** From the standby to the primary. */
  readonly replication: TcpProxy
  #first: Server
  #second: Server
  #primary: Server

  private constructor(
    stage: Stage,
    kind: Replication,
    { address, replication }: { address: TcpProxy; replication: TcpProxy },
    first: Server,
    second: Server,
  ) {
    this.#stage = stage
    this.#kind = kind
    this.replication = replication
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
    await query(first.url, `ALTER SYSTEM SET wal_keep_size = '1GB'`)
    // Before the standby is made, which inherits it.
    if (replication === 'synchronous') await query(first.url, expectStandbySql)
    await first.stop()
    const primary = await start(stage, 'first')
    const line = await openTcpProxy(() => primary.port)
    const second = await makeStandby(stage, primary, line)
    let pair: PostgresPair | undefined
    const address = await openTcpProxy(() => (pair === undefined ? primary.port : pair.#primary.port))
    pair = new PostgresPair(stage, replication, { address, replication: line }, primary, second)
    await pair.#waitForStandby(replication)
    return pair
  }

  /** Of the one address, which stays. */
  get url(): string {
    const url = new URL(this.#first.url)
    url.port = String(this.#address.port)
    return url.href
  }

  get first(): Server {
    return this.#first
  }

  get directories(): string[] {
    return [this.#first.directory, this.#second.directory]
  }

  /** With -9: its sessions hear nothing of it but the end of their connections. */
  async killPrimary(): Promise<void> {
    this.#primary.kill('SIGKILL')
    await this.#primary.exited
  }

  /** Makes the standby the primary, and leads the address to it: steps 2 and 3 of the runbook. */
  async promote(): Promise<void> {
    const { url } = this.#second
    await query(url, 'SELECT pg_promote()')
    // It has no standby yet, and no commit would end.
    await query(url, 'ALTER SYSTEM RESET synchronous_standby_names')
    await query(url, 'SELECT pg_reload_conf()')
    this.#primary = this.#second
    this.#address.reset()
  }

  /** Starts the old primary again as what it was, on its own port: it knows nothing of the promotion. */
  async startOld(): Promise<Server> {
    this.#first = await start(this.#stage, 'first', this.#first.port)
    return this.#first
  }

  /** Makes the old primary a standby of the new one: steps 8 and 9 of the runbook. */
  async rejoin(): Promise<void> {
    await this.#first.stop()
    const data = `${this.#first.directory}/data`
    const { pgRewind } = this.#stage.programs
    // Until its first checkpoint, pg_rewind takes the new primary for one of the old timeline, and does nothing.
    await query(this.#second.url, 'CHECKPOINT')
    await runAsServer(
      pgRewind,
      ['--target-pgdata', data, '--source-server', this.#second.url, '--write-recovery-conf'],
      this.#first.directory,
    )
    this.#first = await start(this.#stage, 'first', this.#first.port)
    await this.#waitForStandby('asynchronous')
    if (this.#kind === 'asynchronous') return
    await query(this.#second.url, expectStandbySql)
    await query(this.#second.url, 'SELECT pg_reload_conf()')
    await this.#waitForStandby('synchronous')
  }

  async stop(): Promise<void> {
    await this.#address.close()
    await this.replication.close()
    await this.#first.stop()
    await this.#second.stop()
  }

  async #waitForStandby(replication: Replication): Promise<void> {
    const wanted = replication === 'synchronous' ? 'sync' : 'async'
    const text = `SELECT sync_state AS state FROM pg_stat_replication WHERE state = 'streaming'`
    await until(async () => {
      const rows = await query<{ state: string }>(this.#primary.url, text).catch(() => [])
      return rows[0]?.state === wanted
    })
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

async function makeStandby(stage: Stage, primary: Server, line: TcpProxy): Promise<Server> {
  const home = `${stage.directory}/second`
  await mkdir(home)
  await giveToServers(home)
  const url = new URL(primary.url)
  url.port = String(line.port)
  const args = ['--pgdata', `${home}/data`, '--write-recovery-conf', '--checkpoint=fast']
  await runAsServer(stage.programs.pgBaseBackup, [...args, '--dbname', url.href], stage.directory)
  await rm(`${home}/data/postmaster.pid`, { force: true })
  await writeFile(`${home}/password`, url.password, { mode: 0o600 })
  return start(stage, 'second')
}
