import { Prisma, type UnscopedSql } from '@automation/database'
import { narrowEvents } from './list-events.js'
import { scanPage } from './scan-page.js'

/** The samples of one response have at most so many bytes of data together. */
export const maxSampleBytes = 1_048_576

/** An event with its data, to try a rule on. */
export interface SampleEvent {
  id: string
  type: string
  data: object
  acceptedAt: Date
}

/** Finds the newest events, of all types or of one, or of one rule, as many as fit into `limit` and `maxSampleBytes`. Deliveries to subscriptions are left out. */
export async function findSampleEvents(
  database: UnscopedSql,
  workspaceId: string,
  { limit, ...filter }: { type?: string; ruleId?: string; limit: number },
): Promise<SampleEvent[]> {
  const narrowing = narrowEvents(workspaceId, filter)
  const columns = Prisma.sql`id, octet_length(data::text) AS bytes`
  const { rows } = await scanPage<{ id: string; bytes: number }>(
    database,
    Prisma.sql`events`,
    columns,
    narrowing,
    { before: undefined, limit },
  )
  const ids = takeWithin(rows)
  if (ids.length === 0) return []
  return database.$queryRaw<SampleEvent[]>(Prisma.sql`
    SELECT id, type, data, accepted_at AS "acceptedAt" FROM events
    WHERE workspace_id = ${workspaceId}::uuid AND id IN (${Prisma.join(ids.map((id) => Prisma.sql`${id}::uuid`))})
    ORDER BY id DESC`)
}

function takeWithin(rows: { id: string; bytes: number }[]): string[] {
  let sum = 0
  const ids: string[] = []
  for (const { id, bytes } of rows) {
    if (sum + bytes > maxSampleBytes) continue
    sum += bytes
    ids.push(id)
  }
  return ids
}
