import { type Database, Prisma } from '@automation/database'

/** An event about to be accepted; `id` is a new UUID v7. */
export interface NewEvent {
  id: string
  workspaceId: string
  /** From the catalogue of event types. */
  type: string
  data: object
  /** Set where one rule is executed by hand. */
  ruleId: string | null
}

/**
 * Commits events of many callers, of any workspaces, in one statement. When it returns, they are accepted: whatever
 * happens to Redis or to this process, each of them will run.
 */
export async function insertEvents(database: Database, events: NewEvent[]): Promise<void> {
  const rows = events.map(({ id, workspaceId, type, data, ruleId }) => ({
    id,
    workspace_id: workspaceId,
    type,
    data,
    rule_id: ruleId,
  }))
  await database.system.$executeRaw(Prisma.sql`/* insert_events */
    INSERT INTO events (id, workspace_id, type, data, rule_id, rule_ids)
    SELECT new.*, '{}'
    FROM json_to_recordset(${JSON.stringify(rows)}::json) AS new (
      id uuid, workspace_id uuid, type text, data json, rule_id uuid)`)
}
