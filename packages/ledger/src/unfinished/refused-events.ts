import type { Database } from '@automation/database'

/** So many attempts to store the outcome of an event may be refused for what it is, and not for the state of Postgres, before it is given up. */
export const maxRefusals = 5

/** $1 event · $2 how many are too many · $3 why it is refused */
const noteRefusalSql = `
  UPDATE events SET
    refusals = refusals + 1,
    quarantined = refusals + 1 >= $2::int,
    quarantine_reason = CASE WHEN refusals + 1 >= $2::int THEN $3::text END,
    done_at = CASE WHEN refusals + 1 >= $2::int THEN now() END
  WHERE id = $1::uuid AND done_at IS NULL
  RETURNING quarantined`

/**
 * Counts that the outcome of an event was refused. At the fifth time the event is quarantined: marked done, without executions. Until this is committed
 * nothing has changed, and the event is run again.
 *
 * @returns `done` where another delivery has finished it
 */
export async function noteRefusal(
  database: Pick<Database, 'run'>,
  eventId: string,
  reason: string,
): Promise<'again' | 'quarantined' | 'done'> {
  const values = [eventId, maxRefusals, reason]
  const [noted] = await database.run<{ quarantined: boolean }>('note_refusal', noteRefusalSql, values)
  if (noted === undefined) return 'done'
  return noted.quarantined ? 'quarantined' : 'again'
}

/** Why an event is quarantined; undefined where it is not. */
export function findQuarantineReason(event: {
  quarantined: boolean
  quarantineReason: string | null
}): string | undefined {
  if (!event.quarantined) return undefined
  return event.quarantineReason ?? 'Several workers crashed while they processed this event'
}
