import type pg from 'pg'

/** What Postgres did beside the statements of the product. */
export interface PostgresWork {
  checkpoints: number
  autovacuums: number
  /** Megabytes of the write-ahead log. */
  walMegabytes: number
}

/** The work since the start of the server. */
export async function readPostgresWork(postgres: pg.Client): Promise<PostgresWork> {
  const { rows } = await postgres.query<PostgresWork>(`
    SELECT (SELECT num_timed + num_requested FROM pg_stat_checkpointer)::int AS checkpoints,
           (SELECT sum(autovacuum_count) FROM pg_stat_user_tables)::int AS autovacuums,
           pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 / 1e6 AS "walMegabytes"`)
  return rows[0] as PostgresWork
}

export function workSince(before: PostgresWork, after: PostgresWork): PostgresWork {
  return {
    checkpoints: after.checkpoints - before.checkpoints,
    autovacuums: after.autovacuums - before.autovacuums,
    walMegabytes: after.walMegabytes - before.walMegabytes,
  }
}
