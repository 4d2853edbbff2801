import { executionIdOf, Prisma, type UnscopedSql } from '@automation/database'

/** By event: when its execution ended (epoch ms); null: it has not. */
export type RecordedEnds = ReadonlyMap<string, number | null>

interface Asked {
  workspaceId: string
  ruleId: string
  /** Executions by hand are not found: they hold no key. */
  events: readonly { id: string }[]
}

/** Finds when the executions of a rule for some events ended. One that was suppressed is none. */
export async function findRecordedEnds(
  database: UnscopedSql,
  { workspaceId, ruleId, events }: Asked,
): Promise<RecordedEnds> {
  const ids = events.map(({ id }) => executionIdOf({ id, addressee: null }, ruleId))
  const rows = await database.$queryRaw<{ eventId: string; endedAt: number | null }[]>(Prisma.sql`
    SELECT event_id AS "eventId", round(date_part('epoch', finished_at) * 1000)::float8 AS "endedAt"
    FROM executions
    WHERE workspace_id = ${workspaceId}::uuid AND handler_id = ${ruleId}::uuid AND id = ANY (${ids}::uuid[])
      AND status <> 'suppressed'`)
  return new Map(rows.map(({ eventId, endedAt }) => [eventId, endedAt]))
}
