import type pg from 'pg'
import type { Figures } from '../table.js'

/** What Postgres has done besides the statements of the product, since the start of the server. */
export async function readPostgresWork(postgres: pg.Client): Promise<Figures> {
  const { rows } = await postgres.query<Figures>(`
    SELECT (SELECT num_timed + num_requested FROM pg_stat_checkpointer)::int AS checkpoints,
           (SELECT sum(autovacuum_count) FROM pg_stat_user_tables)::int AS autovacuums,
           pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 / 1e6 AS "log MB"`)
  return rows[0] as Figures
}

export function workSince(before: Figures, after: Figures): Figures {
  return Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]))
}
