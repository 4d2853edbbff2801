/**
 * Makes a statement that runs a SELECT and returns, as `read`, how many entries of an index it has read. Entries of finished rows are
 * included: the number of rows does not show them, and the duration shows them on an idle machine only.
 *
 * It compares a counter of Postgres' statistics before and after: that of this connection, not yet reported. The WHERE of the SELECT
 * has to contain `before.read >= 0`: otherwise Postgres may read the index first. Where `track_counts` is off, `read` is 0.
 *
 * @param columns of the SELECT, whose alias is `found` and which must return at most one row
 */
export function countReads(index: string, columns: string, select: string): string {
  const counter = `coalesce(pg_stat_get_xact_tuples_returned(to_regclass('${index}')), 0)`
  return `
  SELECT ${columns}, (${counter} - before.read)::int AS read
  FROM (SELECT ${counter} AS read OFFSET 0) AS before
  LEFT JOIN LATERAL (${select}) AS found ON true`
}
