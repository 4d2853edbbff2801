import { type Database, writeJson } from '@automation/database'

/** How long (seconds) a worker holds an execution without renewing its lease. Afterwards another worker claims it. */
export const leaseSeconds = 8

/** A lease that a worker holds, and the execution that it is for. */
export interface HeldLease {
  id: string
  lease: string
}

// A locked row is being recorded at this moment, which renews its lease as well.
const renewLeasesSql = `
  WITH held AS (
    SELECT * FROM json_to_recordset($1::json) AS held (id uuid, lease uuid)
  ),
  renewed_executions AS (
    UPDATE executions SET due_at = now() + make_interval(secs => $2::float8)
    WHERE id IN (
      SELECT executions.id
      FROM executions
      JOIN held ON executions.id = held.id AND executions.lease = held.lease
      FOR UPDATE OF executions SKIP LOCKED)
  )
  SELECT held.lease
  FROM held JOIN executions ON executions.id = held.id
  WHERE executions.lease IS DISTINCT FROM held.lease`

/**
 * Renews leases on the connection for urgent statements. An execution that is not stored yet is held, too: its commit may be in progress.
 *
 * @returns the leases that are lost: another worker has claimed their executions, or they are finished
 */
export async function renewLeases(database: Database, held: HeldLease[]): Promise<string[]> {
  const rows = await database.runUrgent<{ lease: string }>('renew_leases', renewLeasesSql, [
    writeJson(held),
    leaseSeconds,
  ])
  return rows.map(({ lease }) => lease)
}

const withdrawInterruptionsSql = `
  UPDATE executions SET
    interruptions = greatest(0, interruptions - (
      SELECT count(*) FROM unnest(lost_leases) AS counted (lease) WHERE lease = ANY ($2::uuid[]))),
    lost_leases = ARRAY(
      SELECT lease FROM unnest(lost_leases) AS counted (lease) WHERE lease <> ALL ($2::uuid[]))
  WHERE id = ANY ($1::uuid[]) AND lost_leases && $2::uuid[]`

/** Withdraws the interruptions that were counted for lost leases of a worker that is alive. All other interruptions stay. */
export async function withdrawInterruptions(database: Database, lost: HeldLease[]): Promise<void> {
  const ids = lost.map(({ id }) => id)
  const leases = lost.map(({ lease }) => lease)
  await database.run('withdraw_interruptions', withdrawInterruptionsSql, [ids, leases])
}

const releaseLeasesSql = `
  UPDATE executions SET due_at = now(), lease = NULL
  FROM json_to_recordset($1::json) AS held (id uuid, lease uuid)
  WHERE executions.id = held.id AND executions.lease = held.lease`

/** Releases executions: they are due at once, for another worker, and Postgres refuses what this worker still records of them. */
export async function releaseLeases(database: Database, held: HeldLease[]): Promise<void> {
  await database.run('release_leases', releaseLeasesSql, [writeJson(held)])
}
