import { highestIdLike, lowestIdLike, Prisma, type UnscopedRows } from '@automation/database'

/** The events of one action with forEach: their ids were made in a row. */
export interface EmittedRange {
  workspaceId: string
  /** The execution that emitted them. */
  executionId: string
  firstEventId: string
  lastEventId: string
}

/** How many of them are finished. The others are in progress, or were removed by retention. */
export interface EmittedCounts {
  /** All executions of the event have ended, and none failed; no rule may have matched. */
  done: number
  /** An execution failed, or the event was quarantined. */
  failed: number
}

/** Events that were emitted together have ids of the same millisecond, so their executions are read once, and not for each of them. */
export async function countEmitted(reads: UnscopedRows, range: EmittedRange): Promise<EmittedCounts> {
  const { workspaceId, executionId, firstEventId, lastEventId } = range
  const [counts] = await reads.$queryRows<EmittedCounts>(Prisma.sql`
    WITH emitted AS MATERIALIZED (
      SELECT id, done_at, quarantined FROM events
      WHERE workspace_id = ${workspaceId}::uuid AND id BETWEEN ${firstEventId}::uuid AND ${lastEventId}::uuid
        AND caused_by = ${executionId}::uuid
    ),
    outcomes AS (
      SELECT event_id, bool_or(status = 'failed') AS is_failed, bool_or(finished_at IS NULL) AS is_open
      FROM executions
      WHERE workspace_id = ${workspaceId}::uuid
        AND id BETWEEN ${lowestIdLike(firstEventId)}::uuid AND ${highestIdLike(lastEventId)}::uuid
        AND event_id IN (SELECT id FROM emitted)
      GROUP BY event_id
    )
    SELECT count(*) FILTER (WHERE quarantined OR is_failed)::int AS failed,
           count(*) FILTER (WHERE done_at IS NOT NULL AND NOT quarantined
                              AND is_failed IS NOT TRUE AND is_open IS NOT TRUE)::int AS done
    FROM emitted LEFT JOIN outcomes ON outcomes.event_id = emitted.id`)
  return counts ?? { done: 0, failed: 0 }
}
