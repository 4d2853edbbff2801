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
  await database.system.$executeRaw(Prisma.sql`/* insert_events */
    INSERT INTO events (id, workspace_id, type, data, rule_id, rule_ids)
    SELECT id, workspace_id, type, data::json, rule_id, '{}'
    FROM unnest(
      ${events.map((event) => event.id)}::uuid[],
      ${events.map((event) => event.workspaceId)}::uuid[],
      ${events.map((event) => event.type)}::text[],
      ${events.map((event) => JSON.stringify(event.data))}::text[],
      ${events.map((event) => event.ruleId)}::uuid[]
    ) AS new (id, workspace_id, type, data, rule_id)`)
}
