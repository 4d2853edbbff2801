/**
 * Makes a statement that runs a SELECT and returns, as `read`, how many entries of a table and its indexes it has read. Entries of
 * finished rows are included: the number of rows does not show them, and the duration shows them on an idle machine only.
 *
 * It compares counters of Postgres' statistics before and after: those of this connection, not yet reported. A partitioned table counts nothing itself, so
 * its leaves are listed, once for both. The WHERE of the SELECT has to contain `before.read >= 0`: otherwise Postgres may read the index first. Where
 * `track_counts` is off, `read` is 0.
 *
 * @param relations the table and each index that Postgres may choose for the SELECT: an index that is left out would read for nothing
 * @param columns of the SELECT, whose alias is `found` and which must return at most one row
 */
export function countReads(relations: string[], columns: string, select: string): string {
  const sum = (counted: string) =>
    `(SELECT coalesce(sum(pg_stat_get_xact_tuples_returned(relation)), 0) FROM unnest(${counted}.relations) AS relation)`
  return `
  SELECT ${columns}, (${sum('before')} - before.read)::int AS read
  FROM (
    SELECT relations, ${sum('stored')} AS read
    FROM (
      SELECT ARRAY(
        SELECT coalesce(leaf.relid, name)::oid FROM unnest('{${relations.join()}}'::regclass[]) AS names (name)
        LEFT JOIN LATERAL pg_partition_tree(name) AS leaf ON true) AS relations
      OFFSET 0) AS stored
    OFFSET 0) AS before
  LEFT JOIN LATERAL (${select}) AS found ON true`
}

/** What may be read of a table's unfinished rows. */
export const readsOfEvents = ['events', 'events_not_done', 'events_pkey']
export const readsOfExecutions = ['executions', 'executions_due', 'executions_pkey']
