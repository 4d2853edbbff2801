import { clockSkewMs, Prisma } from '@automation/database'
import type { Removal } from './removal.js'

/**
 * Removes claims that matter no more: their window is over, and no event waits that was accepted before its end. Otherwise an outage would reset
 * the limits. In a workspace with parked events none goes. An hour is to spare, for an event that was accepted before that and is committed now. Where executions of a key exclude each other,
 * the claim stays as long as its execution, which may be retried, and so does that of an event in a batch, which is read by its claims: removeEvents
 * releases them.
 *
 * @param now epoch ms
 */
export function createClaimRemoval(now: number): Removal {
  // Those that stay are read once in a round, however many a suspended workspace has.
  let from = '-infinity'
  return async (transaction, size) => {
    const [row] = await transaction.$queryRaw<{ removed: number; last: string | null }[]>(Prisma.sql`
      WITH removed_claims AS (
        DELETE FROM key_claims WHERE execution_id IN (
          SELECT execution_id FROM key_claims
          WHERE NOT is_exclusive AND batch_id IS NULL AND expires_at >= ${from}::timestamptz AND expires_at < least(
              to_timestamp(${now - clockSkewMs}::float8 / 1000),
              (SELECT accepted_at FROM events WHERE done_at IS NULL AND parked IS NULL ORDER BY id LIMIT 1))
            AND NOT EXISTS (SELECT FROM workspaces WHERE workspaces.id = key_claims.workspace_id AND has_parked)
          ORDER BY expires_at LIMIT ${size} FOR UPDATE SKIP LOCKED)
        RETURNING expires_at
      )
      SELECT count(*)::int AS removed, max(expires_at)::text AS last FROM removed_claims`)
    const { removed, last } = row ?? { removed: 0, last: null }
    from = last ?? from
    return { removed, isOver: removed < size }
  }
}
