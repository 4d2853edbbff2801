import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Product } from '@automation/launcher'
import type { Pids } from '../cpu-time.js'
import { alignColumns, formatNumber } from '../table.js'
import { withPostgres } from '../with-postgres.js'
import { summarizeProfile } from './summarize-profile.js'

const limitMs = 30_000

/** Writes for each measurement a CPU profile of each Node process, a summary of it, and the statements of Postgres. */
export class Profiles {
  readonly #directory: string | undefined
  #databaseUrl: string | undefined

  /** @param directory undefined: nothing is profiled */
  constructor(directory: string | undefined) {
    this.#directory = directory
  }

  /** @returns the variables of the processes to profile */
  async prepare(): Promise<Record<string, string>> {
    if (this.#directory === undefined) return {}
    await mkdir(this.#directory, { recursive: true })
    const preload = new URL('./profile-process.js', import.meta.url)
    return { NODE_OPTIONS: `--import=${preload}`, PROFILE_DIR: this.#directory }
  }

  /** Makes Postgres measure the cost of each statement, which it can do only from its start on. */
  async countStatements(product: Product): Promise<void> {
    // Servers that are another product's count already.
    if (product.postgres === undefined) return
    await query(product.databaseUrl, `ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'`)
    await product.postgres.stop()
    await product.restartPostgres()
    await query(product.databaseUrl, 'CREATE EXTENSION pg_stat_statements')
    this.#databaseUrl = product.databaseUrl
  }

  /** Profiles the processes while something runs. */
  async during<Result>(label: string, pids: Pids, run: () => Promise<Result>): Promise<Result> {
    const directory = this.#directory
    if (directory === undefined) return run()
    const processes = await this.#findProcesses(Object.values(pids).flat())
    const file = `${directory}/${label.replaceAll(/[^\w@]+/g, '-')}`
    if (this.#databaseUrl) await query(this.#databaseUrl, 'SELECT pg_stat_statements_reset()')
    for (const { pid } of processes) process.kill(pid, 'SIGURG')
    const result = await run()
    for (const { pid } of processes) process.kill(pid, 'SIGURG')
    for (const { pid, name } of processes) {
      const profile = `${file}.${name}-${pid}.cpuprofile`
      await renameOnceThere(`${directory}/${pid}.cpuprofile`, profile)
      await writeFile(`${profile}.txt`, summarizeProfile(await readFile(profile, 'utf8')))
    }
    if (this.#databaseUrl) await writeStatements(this.#databaseUrl, `${file}.statements.txt`)
    return result
  }

  /** Those that know the signal. */
  async #findProcesses(pids: number[]): Promise<{ pid: number; name: string }[]> {
    const names = pids.map((pid) => readFile(`${this.#directory}/${pid}.process`, 'utf8').catch(() => ''))
    const found = (await Promise.all(names)).map((name, place) => ({ pid: pids[place] as number, name }))
    return found.filter(({ name }) => name !== '')
  }
}

async function renameOnceThere(from: string, to: string): Promise<void> {
  const deadline = performance.now() + limitMs
  for (;;) {
    const isThere = await rename(from, to).then(
      () => true,
      () => false,
    )
    if (isThere) return
    if (performance.now() > deadline) throw new Error(`${from} was not written`)
    await delay(50)
  }
}

/** The statements that took most of Postgres' time, for planning and running. */
async function writeStatements(databaseUrl: string, file: string): Promise<void> {
  const rows = await query<Statement>(
    databaseUrl,
    `SELECT calls::int, (total_exec_time + total_plan_time) AS ms, rows::int,
            regexp_replace(left(query, 400), '\\s+', ' ', 'g') AS query
     FROM pg_stat_statements ORDER BY 2 DESC LIMIT 25`,
  )
  const lines = rows.map(({ calls, ms, rows, query }) => [
    query.slice(0, 110),
    ...[ms, calls, (ms * 1_000) / calls, rows].map(formatNumber),
  ])
  await writeFile(file, `${alignColumns([['statement', 'ms', 'calls', 'µs a call', 'rows'], ...lines])}\n`)
}

interface Statement {
  calls: number
  ms: number
  rows: number
  query: string
}

function query<Row extends object>(url: string, text: string): Promise<Row[]> {
  return withPostgres(url, async (postgres) => (await postgres.query<Row>(text)).rows)
}
