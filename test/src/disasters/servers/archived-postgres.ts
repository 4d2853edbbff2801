import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { type Server, startPostgres } from '@automation/launcher'
import { openTcpProxy, type TcpProxy } from '../../storm/tcp-proxy.js'
import type { Stage } from '../disaster.js'
import { query } from './postgres-pair.js'
import { giveToServers, runAsServer } from './server-process.js'

/**
 * A server of Postgres that archives its WAL, and one that is recovered from a base backup and the archive, behind one address:
 *
 *   address ──▶ first ──archive──▶ WAL ──▶ second, on a port of its own ┄┄open┄┄▶ address
 */
export class ArchivedPostgres {
  readonly #stage: Stage
  readonly #first: Server
  #second: Server | undefined
  #address: TcpProxy | undefined
  #isOpen = false

  private constructor(stage: Stage, first: Server) {
    this.#stage = stage
    this.#first = first
  }

  static async open(stage: Stage): Promise<ArchivedPostgres> {
    await mkdir(archiveOf(stage))
    await giveToServers(archiveOf(stage))
    const unarchived = await start(stage, 'first')
    await query(unarchived.url, 'ALTER SYSTEM SET archive_mode = on')
    await query(
      unarchived.url,
      `ALTER SYSTEM SET archive_command = 'test ! -f ${archiveOf(stage)}/%f && cp %p ${archiveOf(stage)}/%f'`,
    )
    await unarchived.stop()
    const first = await start(stage, 'first', unarchived.port)
    const server = new ArchivedPostgres(stage, first)
    server.#address = await openTcpProxy(() => server.#current.port)
    return server
  }

  /** Of the one address, which stays. */
  get url(): string {
    const url = new URL(this.#first.url)
    url.port = String(this.#address?.port)
    return url.href
  }

  /** Of the server that is recovered, which nobody else reaches before it is open. */
  get recoveredUrl(): string {
    return this.#second?.url ?? ''
  }

  get directories(): string[] {
    return [this.#first.directory, archiveOf(this.#stage)]
  }

  async backUp(): Promise<void> {
    const home = `${this.#stage.directory}/second`
    await mkdir(home)
    await giveToServers(home)
    const args = ['--pgdata', `${home}/data`, '--checkpoint=fast', '--wal-method=none', '--no-manifest']
    await runAsServer(
      this.#stage.programs.pgBaseBackup,
      [...args, '--dbname', this.#first.url],
      this.#stage.directory,
    )
    await writeFile(`${home}/password`, new URL(this.#first.url).password, { mode: 0o600 })
  }

  /** The last WAL of the first server is archived, and it ends. The second one recovers to that moment, and is a primary then. */
  async recoverTo(moment: Date): Promise<void> {
    const [{ name } = { name: '' }] = await query<{ name: string }>(
      this.#first.url,
      'SELECT pg_walfile_name(pg_switch_wal()) AS name',
    )
    await waitFor(async () => {
      const [row] = await query<{ last: string | null }>(
        this.#first.url,
        'SELECT last_archived_wal AS last FROM pg_stat_archiver',
      )
      return (row?.last ?? '') >= name
    })
    await this.#first.stop()
    const data = `${this.#stage.directory}/second/data`
    await appendFile(
      `${data}/postgresql.auto.conf`,
      [
        `restore_command = 'cp ${archiveOf(this.#stage)}/%f %p'`,
        // It does not know Z.
        `recovery_target_time = '${moment.toISOString().replace('Z', '+00')}'`,
        `recovery_target_action = 'promote'`,
        `archive_mode = off`,
        '',
      ].join('\n'),
    )
    await writeFile(`${data}/recovery.signal`, '')
    await giveToServers(`${data}/recovery.signal`)
    await rm(`${data}/postmaster.pid`, { force: true })
    this.#second = await start(this.#stage, 'second')
    await waitFor(async () => {
      const [row] = await query<{ isRecovering: boolean }>(
        this.recoveredUrl,
        'SELECT pg_is_in_recovery() AS "isRecovering"',
      )
      return row?.isRecovering === false
    })
  }

  /** Leads the address to it. */
  open(): void {
    this.#isOpen = true
    this.#address?.reset()
  }

  async stop(): Promise<void> {
    await this.#address?.close()
    await this.#second?.stop()
    await this.#first.stop()
  }

  get #current(): Server {
    return this.#isOpen && this.#second !== undefined ? this.#second : this.#first
  }
}

const archiveOf = ({ directory }: Stage) => `${directory}/archive`

function start({ directory, programs }: Stage, name: string, port?: number): Promise<Server> {
  const { initdb, postgres } = programs
  const home = `${directory}/${name}`
  const log = `${directory}/${name}.log`
  return startPostgres({ directory: home, port, durable: true, log, binaries: { initdb, postgres } })
}

/** A server's own steps take their time; each ends, or the run does by its limit. */
async function waitFor(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 100))
}
