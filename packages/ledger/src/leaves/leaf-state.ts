import type { Database } from '@automation/database'
import { histories } from './histories.js'

/** Higher numbers are not counted. */
const mostCounted = 1_000

export interface LeafState {
  /** In the high edges, for which no leaf was made. */
  highRows: number
  /** Exchanges that cannot go on, and for how long. */
  waiting: { name: string; waitsFor: string; seconds: number }[]
}

const highEdges = Object.values(histories)
  .flatMap(({ tables }) => tables)
  .map(({ name }) => `SELECT FROM history.${name}_high`)

/** $1 how many rows at most */
const readLeafStateSql = `
  SELECT (SELECT count(*)::int FROM (${highEdges.join(' UNION ALL ')} LIMIT $1) AS high) AS "highRows",
         coalesce((
           SELECT json_agg(json_build_object(
             'name', name, 'waitsFor', waits_for, 'seconds', round(extract(epoch FROM now() - waits_since))))
           FROM history.exchanges WHERE waits_since IS NOT NULL), '[]') AS waiting`

export async function readLeafState(database: Pick<Database, 'run'>): Promise<LeafState> {
  const [state] = await database.run<LeafState>('read_leaf_state', readLeafStateSql, [mostCounted])
  return state ?? { highRows: 0, waiting: [] }
}
