import { Prisma } from '@automation/database'
import type { RowsToScan } from './scan-rows.js'

/**
 * The texts of tasks, and the data of their events, which is null once that was removed. Each task asks for its execution and then for its event, by itself
 * (LIMIT 1): with a plain join, Postgres would read all executions of all workspaces for one slice as soon as it takes them for few, or all events of the
 * workspace for each task, since it does not know of several leaves that an id is in one of them.
 */
export const tasksToScan: RowsToScan = {
  table: Prisma.sql`tasks`,
  slice: Prisma.sql`
    SELECT bounded.*, event.data FROM bounded
    LEFT JOIN LATERAL (
      SELECT event_id FROM executions
      WHERE is_read AND executions.id = bounded.execution_id AND executions.workspace_id = bounded.workspace_id LIMIT 1
    ) AS execution ON true
    LEFT JOIN LATERAL (
      SELECT data FROM events
      WHERE events.id = execution.event_id AND events.workspace_id = bounded.workspace_id LIMIT 1
    ) AS event ON true`,
  acceptedAt: Prisma.sql`created_at`,
  bytes: Prisma.sql`octet_length(title) + coalesce(octet_length(description), 0) + coalesce(octet_length(data::text), 0)`,
  json: Prisma.sql`json_build_object('title', title, 'description', description, 'data', data)::text`,
}

/** Whom the calls of executions reached. */
export const targetsToScan: RowsToScan = {
  table: Prisma.sql`executions`,
  slice: Prisma.sql`SELECT * FROM bounded`,
  acceptedAt: Prisma.sql`started_at`,
  bytes: Prisma.sql`octet_length(results::text)`,
  json: Prisma.sql`
    coalesce((SELECT json_agg(result->'to') FROM json_array_elements(results) AS result WHERE result->'to' IS NOT NULL), '[]')::text`,
}
