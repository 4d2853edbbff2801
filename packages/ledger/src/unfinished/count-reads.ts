/**
 * Makes a statement of a SELECT that also returns how many entries of an index it has read, as `read`: those of finished rows
 * included, which no count of rows tells, and time tells only on an idle machine.
 *
 * It is the counter of Postgres' statistics, of this connection and not yet reported, before and after. `before.read >= 0` belongs
 * into the WHERE of the SELECT: otherwise Postgres may read the index first. Where `track_counts` is off, `read` is 0.
 *
 * @param columns of the SELECT, which is known as `found` and must return at most one row
 */
export function countReads(index: string, columns: string, select: string): string {
  const counter = `coalesce(pg_stat_get_xact_tuples_returned(to_regclass('${index}')), 0)`
  return `
  SELECT ${columns}, (${counter} - before.read)::int AS read
  FROM (SELECT ${counter} AS read OFFSET 0) AS before
  LEFT JOIN LATERAL (${select}) AS found ON true`
}
