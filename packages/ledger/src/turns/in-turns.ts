/** Rows of all workspaces that are due. All values are SQL, and may name parameters of the statement. */
export interface DueRows {
  table: string
  key: string
  /** A column. An index on it, and one on `workspace_id` and it, find the rows. */
  order: string
  /** Its lowest and highest value of rows that are due. */
  from: string
  to: string
  /** What else they fulfil, with the conditions of the indexes. */
  where: string
  /**
   * The same for the rows of one workspace, in words that no index of all workspaces has as its condition: Postgres takes such an index for empty until it
   * hears of a backlog, and would read all of it for each workspace.
   */
  whereOfWorkspace?: string
  /** Default: the lowest first. */
  direction?: 'ASC' | 'DESC'
  /** How many at most. */
  limit: string
}

/** The owner of a workspace, as ownerOf (packages/admission) has it. Bytes are compared faster than letters. */
export const ownerSql = `coalesce(workspaces.created_by, 'workspace:' || workspaces.id) COLLATE "C"`

/**
 * Makes the CTEs of `due_rows (id)`: the rows that a sweep takes next, so that the million rows of one owner delay no row of another. docs/internals/admission.md
 * lists the sweeps that take them by this, and the others.
 *
 * - If no more than `limit` are due, these are all of them: the usual case, one look at one index.
 * - Otherwise each owner has the same part of the places, and each of its workspaces the same part of that; within an owner the first are first. What an owner
 *   leaves free goes to the first of all. With more owners than places those whose first row has waited longest have one each.
 *
 * It costs a look at the index for each workspace and `limit` rows, however many are due. Only what is over the limit pays for it: Postgres does not begin
 * with a part of a statement whose condition, which reads no row, is false. Workspace and order are compared as one row, so that the index on both is the only
 * one that finds the rows of a workspace, whatever the statistics say: another one would read all that is due, for each workspace.
 */
export function inTurns({
  table,
  key,
  order,
  from,
  to,
  where,
  whereOfWorkspace = where,
  direction = 'ASC',
  limit,
}: DueRows): string {
  const rowsOf = (workspaceId: string) => `
        FROM ${table}
        WHERE (${table}.workspace_id, ${table}.${order}) >= (${workspaceId}, ${from}) AND (${table}.workspace_id, ${table}.${order}) <= (${workspaceId}, ${to})
          AND ${whereOfWorkspace}
        ORDER BY ${table}.workspace_id ${direction}, ${table}.${order} ${direction}`
  return `
  first_rows AS MATERIALIZED (
    SELECT ${table}.${key} AS id, ${table}.${order} AS place FROM ${table}
    WHERE ${table}.${order} >= ${from} AND ${table}.${order} <= ${to} AND ${where}
    ORDER BY ${table}.${order} ${direction} LIMIT ${limit}
  ),
  sharing_workspaces AS MATERIALIZED (
    SELECT id, owner, count(*) OVER (PARTITION BY owner) AS siblings
    FROM (
      SELECT workspaces.id, ${ownerSql} AS owner
      FROM workspaces
      CROSS JOIN LATERAL (
        SELECT ${rowsOf('workspaces.id')} LIMIT 1) AS some_row
      WHERE (SELECT count(*) FROM first_rows) >= ${limit}
    ) AS owned_workspaces
  ),
  turns AS (
    SELECT shared_rows.id, place, row_number() OVER (PARTITION BY owner ORDER BY place ${direction}) AS turn
    FROM sharing_workspaces
    CROSS JOIN LATERAL (
      SELECT ${table}.${key} AS id, ${table}.${order} AS place ${rowsOf('sharing_workspaces.id')}
      LIMIT ceil(${limit}::float8 / (SELECT count(DISTINCT owner) FROM sharing_workspaces) / siblings)::bigint
    ) AS shared_rows
  ),
  due_rows AS MATERIALIZED (
    SELECT id FROM (
      SELECT DISTINCT ON (id) id, place, turn FROM (SELECT * FROM turns UNION ALL SELECT id, place, NULL FROM first_rows) AS all_rows
      ORDER BY id, turn NULLS LAST) AS different_rows
    ORDER BY turn NULLS LAST, place ${direction} LIMIT ${limit}
  )`
}
