import { inSnapshot, type Move } from './move.js'

/** An event may have been accepted just before the workspace was closed, and committed later. */
const marginMs = 60_000

/**
 * Copies what a process of the API of the source has accepted that did not know yet that the workspace is closed, or stood still. What its sender has repeated
 * at the target is there already. No tick: the target makes them.
 *
 * @returns how many events
 */
export async function copyLate(move: Move, closedAt: Date): Promise<number> {
  const { target, workspaceId } = move
  const since = new Date(closedAt.getTime() - marginMs)
  return inSnapshot(move, async (snapshot) => {
    const accepted = await snapshot.$queryRawUnsafe<{ id: string }[]>(acceptedSql, workspaceId, since)
    const missing = await target.system.$queryRawUnsafe<{ id: string }[]>(
      'SELECT id::text AS id FROM unnest($1::uuid[]) AS accepted (id) WHERE NOT EXISTS (SELECT FROM events WHERE events.id = accepted.id)',
      accepted.map(({ id }) => id),
    )
    let copied = 0
    for (const { id } of missing) {
      const [late] = await snapshot.$queryRawUnsafe<LateEvent[]>(lateSql, workspaceId, since, id)
      const values = [late?.receipts ?? [], late?.keys ?? [], late?.events ?? []]
      const [inserted] = await target.system.$queryRawUnsafe<{ count: number }[]>(copyLateSql, ...values)
      copied += inserted?.count ?? 0
    }
    return copied
  })
}

interface LateEvent {
  receipts: string[]
  keys: string[]
  events: string[]
}

/** $1 workspace · $2 since when */
const acceptedSql = `
  SELECT id::text AS id FROM events
  WHERE workspace_id = $1::uuid AND accepted_at >= $2::timestamptz AND done_at IS NULL AND addressee_kind IS DISTINCT FROM 'tick'`

/** $1 workspace · $2 since when · $3 event */
const lateSql = `
  SELECT ARRAY(SELECT events::text FROM events WHERE id = $3::uuid) AS events,
         ARRAY(SELECT idempotency_keys::text FROM idempotency_keys
               WHERE workspace_id = $1::uuid AND created_at >= $2::timestamptz AND event_id = $3::uuid) AS keys,
         ARRAY(SELECT webhook_receipts::text FROM webhook_receipts
               WHERE workspace_id = $1::uuid AND received_at >= $2::timestamptz AND $3::uuid = ANY (event_ids)) AS receipts`

/** An event whose webhook, or whose key, the target knows by another event is not copied. $1 its receipt · $2 its key · $3 the event */
const copyLateSql = `
  WITH late_receipts AS (SELECT * FROM unnest($1::text[]::webhook_receipts[])),
  late_keys AS (SELECT * FROM unnest($2::text[]::idempotency_keys[])),
  late_events AS (
    SELECT * FROM unnest($3::text[]::events[]) AS late
    WHERE NOT EXISTS (SELECT FROM events WHERE events.id = late.id)
  ),
  inserted_receipts AS (
    INSERT INTO webhook_receipts SELECT * FROM late_receipts ON CONFLICT DO NOTHING RETURNING event_ids
  ),
  inserted_keys AS (
    INSERT INTO idempotency_keys SELECT * FROM late_keys ON CONFLICT DO NOTHING RETURNING event_id
  ),
  inserted_events AS (
    INSERT INTO events SELECT * FROM late_events
    WHERE (NOT EXISTS (SELECT FROM late_receipts WHERE late_events.id = ANY (event_ids))
        OR EXISTS (SELECT FROM inserted_receipts WHERE late_events.id = ANY (event_ids)))
      AND (NOT EXISTS (SELECT FROM late_keys WHERE event_id = late_events.id)
        OR EXISTS (SELECT FROM inserted_keys WHERE event_id = late_events.id))
    ON CONFLICT (id) DO NOTHING RETURNING id
  ),
  unparked AS (
    UPDATE workspaces SET has_parked = true WHERE id IN (SELECT workspace_id FROM late_events)
  )
  SELECT count(*)::int AS count FROM inserted_events`
