import type { Database } from '@automation/database'

/**
 * On which side of a move a closed workspace is. `to`: it is left, or was, and its callers get 503 here. `from`: it is a copy, which arrives, or which a move
 * that was undone or killed has left.
 */
export type ClosedSide = 'to' | 'from'

/** The partial index workspaces_with_parked has all that are closed. One whose deletion was asked for needs nobody. */
const readClosedSql = `
  SELECT greatest(0, extract(epoch FROM now() - min(closed_at) FILTER (WHERE moving LIKE 'to %')))::float8 AS to,
         greatest(0, extract(epoch FROM now() - min(closed_at) FILTER (WHERE moving NOT LIKE 'to %')))::float8 AS from
  FROM workspaces WHERE has_parked AND closed_at IS NOT NULL AND deletes_at IS NULL`

/** @returns for how many seconds the workspace of each side has been closed that was closed first; 0: there is none */
export async function readClosedSeconds(
  database: Pick<Database, 'run'>,
): Promise<Record<ClosedSide, number>> {
  const [row] = await database.run<Record<ClosedSide, number>>('read_closed_seconds', readClosedSql, [])
  return row ?? { to: 0, from: 0 }
}
