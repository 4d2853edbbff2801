import { writeFile } from 'node:fs/promises'
import type { Product } from '@automation/launcher'
import { withPostgres } from '../connections.js'
import { alignColumns, whole } from '../report.js'

/** Makes Postgres measure the cost of each statement, which it can do only from its start on. */
export async function countStatements(product: Product): Promise<void> {
  await query(product.databaseUrl, `ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'`)
  await product.postgres?.stop()
  await product.restartPostgres()
  await query(product.databaseUrl, 'CREATE EXTENSION pg_stat_statements')
}

/** Writes the statements that took most of Postgres' time, for planning and running. */
export async function writeStatements({ databaseUrl }: Product, file: string): Promise<void> {
  const rows = await query<Statement>(
    databaseUrl,
    `SELECT calls::int, (total_exec_time + total_plan_time) AS ms, rows::int,
            regexp_replace(left(query, 400), '\\s+', ' ', 'g') AS query
     FROM pg_stat_statements ORDER BY 2 DESC LIMIT 25`,
  )
  const lines = rows.map(({ calls, ms, rows, query }) => [
    query.slice(0, 110),
    whole(ms),
    whole(calls),
    whole((ms * 1_000) / calls),
    whole(rows),
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
