import type pg from 'pg'
import { readPostgresWork, workSince } from '../sustained/postgres-work.js'
import type { Figures } from '../table.js'

/** A line of the table about what is stored. */
export type StorageLine = [label: string, figures: Figures]

const tables = ['events', 'executions', 'tasks']

/** Each table, with its TOAST, and each index: in all, and for each stored event. */
export async function measureSizes(postgres: pg.Client, events: number): Promise<StorageLine[]> {
  const { rows } = await postgres.query<{ name: string; bytes: number }>(sizesStatement, [tables])
  const all = { name: 'all', bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0) }
  return [...rows, all].map(({ name, bytes }) => [name, { MB: bytes / 1e6, 'B an event': bytes / events }])
}

/** Vacuums each table, as autovacuum would do. */
export async function measureVacuums(postgres: pg.Client, when: string): Promise<StorageLine[]> {
  const lines: StorageLine[] = []
  for (const table of tables) {
    const { rows } = await postgres.query<{ dead: number }>(
      `SELECT sum(n_dead_tup)::float8 AS dead FROM ${storedSql} JOIN pg_stat_user_tables USING (relid)`,
      [[table]],
    )
    const figures = await timeWork(postgres, () => postgres.query(`VACUUM (ANALYZE) ${table}`))
    lines.push([`vacuum of ${table}, ${when}`, { ...figures, 'dead rows': rows[0]?.dead ?? 0 }])
  }
  return lines
}

/** How long something takes, and how much log it writes. */
export async function timeWork(postgres: pg.Client, run: () => Promise<unknown>): Promise<Figures> {
  const before = await readPostgresWork(postgres)
  const startedAt = performance.now()
  await run()
  const s = (performance.now() - startedAt) / 1_000
  return { s, 'log MB': workSince(before, await readPostgresWork(postgres))['log MB'] ?? Number.NaN }
}

/** Rows of the three tables that were removed and updated, since Postgres counts. */
export interface RowWork {
  removed: number
  updated: number
  /** Without a new entry in any index. */
  updatedHot: number
}

export async function readRowWork(postgres: pg.Client): Promise<RowWork> {
  const { rows } = await postgres.query<RowWork>(
    `SELECT sum(n_tup_del)::float8 AS removed, sum(n_tup_upd)::float8 AS updated, sum(n_tup_hot_upd)::float8 AS "updatedHot"
     FROM ${storedSql} JOIN pg_stat_user_tables USING (relid)`,
    [tables],
  )
  return rows[0] as RowWork
}

/** What is stored of tables, in leaves or whole. $1: their names */
const storedSql = `(
  SELECT coalesce(leaf.relid, name::regclass)::oid AS relid
  FROM unnest($1::text[]) AS tables (name) LEFT JOIN LATERAL pg_partition_tree(name::regclass) AS leaf ON true) AS stored`

const sizesStatement = `
  SELECT relation::text AS name, sum(pg_table_size(coalesce(leaf.relid, relation)))::float8 AS bytes
  FROM unnest($1::text[]) WITH ORDINALITY AS tables (name, place)
  CROSS JOIN LATERAL (
    SELECT false AS is_index, name::regclass AS relation
    UNION ALL SELECT true, indexrelid::regclass FROM pg_index WHERE indrelid = name::regclass) AS relations
  LEFT JOIN LATERAL pg_partition_tree(relation) AS leaf ON true
  GROUP BY place, is_index, relation
  ORDER BY place, is_index, name`
