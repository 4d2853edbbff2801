import type { Database } from '@automation/database'

/** Higher numbers are not counted. */
const mostCounted = 1_000

/** Who reads rows has no rights in the schema of the leaves. $1 how many rows of a table at most */
const readLeafStateSql = `
  WITH edges AS (
    SELECT relname, substring(pg_get_expr(relpartbound, oid) FROM '''(.*)''')::uuid AS bound
    FROM pg_class WHERE relnamespace = to_regnamespace('history') AND relname IN ('events_high', 'executions_high', 'tasks_high')
  )
  SELECT (SELECT count(*)::int FROM (
            SELECT FROM events WHERE id >= (SELECT bound FROM edges WHERE relname = 'events_high') LIMIT $1) AS high)
       + (SELECT count(*)::int FROM (
            SELECT FROM executions WHERE id >= (SELECT bound FROM edges WHERE relname = 'executions_high') LIMIT $1) AS high)
       + (SELECT count(*)::int FROM (
            SELECT FROM tasks WHERE id >= (SELECT bound FROM edges WHERE relname = 'tasks_high') LIMIT $1) AS high) AS count`

/** Counts the rows in the high edges, for which no leaf was made. */
export async function countHighRows(database: Pick<Database, 'run'>): Promise<number> {
  const [row] = await database.run<{ count: number }>('read_leaf_state', readLeafStateSql, [mostCounted])
  return row?.count ?? 0
}
