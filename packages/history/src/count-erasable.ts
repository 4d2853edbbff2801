import { Prisma, type UnscopedSql } from '@automation/database'
import { executionsOfEvent } from './list-events.js'

/** What belongs to events whose data an erasure would change. */
export interface ErasableRows {
  executions: number
  tasks: number
  /** Events that are not done, of these and of their chains. */
  undone: number
  /** Executions of these and of their chains. */
  unfinished: number
  /** The first 250 executions that have not ended: as many as a filter takes. */
  unfinishedIds: string[]
}

/** Of the chains: an erasure finds what is left of more. */
const maxOthers = 20_000

/** @param eventIds at most 20,000: for each one look at an index of executions, and for each execution one at that of tasks */
export async function countErasable(
  database: UnscopedSql,
  workspaceId: string,
  eventIds: readonly string[],
): Promise<ErasableRows> {
  const [found] = await database.$queryRaw<ErasableRows[]>(Prisma.sql`
    WITH found_events AS MATERIALIZED (
      SELECT id, workspace_id, root_id, done_at FROM events
      WHERE workspace_id = ${workspaceId}::uuid AND id = ANY (${eventIds}::uuid[])
    ),
    found_executions AS MATERIALIZED (
      SELECT own.* FROM found_events AS events
      CROSS JOIN LATERAL (
        SELECT id, finished_at FROM executions WHERE executions.workspace_id = ${workspaceId}::uuid AND ${executionsOfEvent} OFFSET 0) AS own
    ),
    other_events AS MATERIALIZED (
      SELECT others.* FROM (SELECT DISTINCT coalesce(root_id, id) AS id FROM found_events) AS roots
      CROSS JOIN LATERAL (
        SELECT id, workspace_id, done_at FROM events WHERE events.id = roots.id AND events.workspace_id = ${workspaceId}::uuid
        UNION ALL
        SELECT id, workspace_id, done_at FROM events WHERE events.root_id = roots.id AND events.workspace_id = ${workspaceId}::uuid
        OFFSET 0
      ) AS others
      WHERE NOT EXISTS (SELECT FROM found_events WHERE found_events.id = others.id) LIMIT ${maxOthers}
    ),
    unfinished AS MATERIALIZED (
      SELECT id FROM found_executions WHERE finished_at IS NULL
      UNION ALL
      SELECT own.id FROM other_events AS events
      CROSS JOIN LATERAL (
        SELECT id FROM executions
        WHERE executions.workspace_id = ${workspaceId}::uuid AND ${executionsOfEvent} AND finished_at IS NULL OFFSET 0) AS own
    )
    SELECT (SELECT count(*) FROM found_executions)::int AS executions,
           (SELECT coalesce(sum((SELECT count(*) FROM tasks WHERE tasks.workspace_id = ${workspaceId}::uuid AND tasks.execution_id = found_executions.id)), 0) FROM found_executions)::int AS tasks,
           (SELECT count(*) FROM (SELECT done_at FROM found_events UNION ALL SELECT done_at FROM other_events) AS chained
            WHERE done_at IS NULL)::int AS undone,
           (SELECT count(*) FROM unfinished)::int AS unfinished,
           ARRAY(SELECT id::text FROM unfinished ORDER BY id LIMIT 250) AS "unfinishedIds"`)
  return found ?? { executions: 0, tasks: 0, undone: 0, unfinished: 0, unfinishedIds: [] }
}
