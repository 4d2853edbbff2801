import { type Database, firstIdOf, newId, Prisma } from '@automation/database'

const eventsAtOnce = 2_000
const dayMs = 24 * 60 * 60 * 1_000

/**
 * Inserts a day of history of a given age: events, each with the executions of ten rules.
 *
 * @returns the lowest id after that day
 */
export async function fillHistory(
  database: Database,
  workspaceId: string,
  { events, daysAgo }: { events: number; daysAgo: number },
): Promise<string> {
  const ruleIds = Array.from({ length: 10 }, newId)
  const from = Date.now() - daysAgo * dayMs
  const timeOf = (event: number) => from + (event / events) * dayMs
  const own = database.forWorkspace(workspaceId)
  for (let first = 0; first < events; first += eventsAtOnce) {
    const rows = Array.from({ length: Math.min(eventsAtOnce, events - first) }, (_, index) => {
      const at = timeOf(first + index)
      return {
        id: firstIdOf(at).slice(0, 13) + newId().slice(13),
        workspaceId,
        type: 'LEAD_CREATED',
        data: { name: 'Ada', email: 'ada@example.com', score: 95, status: 'new' },
        acceptedAt: new Date(at),
        doneAt: new Date(at),
      }
    })
    await own.event.createMany({ data: rows })
    const ids = rows.map(({ id }) => id)
    await database.system.$executeRaw(Prisma.sql`
      INSERT INTO executions
        (id, workspace_id, event_id, event_type, rule_id, rule_version, status, results, started_at, finished_at)
      SELECT (left(events.id::text, 13) || '-8' || left(digest, 3) || '-8' || substr(digest, 4, 3) || '-'
              || substr(digest, 7, 12))::uuid,
             workspace_id, events.id, type, rules.id, 1, 'succeeded', '[{"action":"CREATE_TASK","status":"success"}]',
             accepted_at, done_at
      FROM events CROSS JOIN unnest(${ruleIds}::uuid[]) AS rules (id)
      CROSS JOIN LATERAL md5(events.id::text || rules.id::text) AS digest
      WHERE events.id = ANY (${ids}::uuid[])`)
  }
  return firstIdOf(timeOf(events) + 1)
}
