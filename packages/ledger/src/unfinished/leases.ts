import { type Database, idRangeOf, writeJson } from '@automation/database'

/** How long (seconds) a worker holds an execution without renewing its lease. Afterwards another worker claims it. */
export const leaseSeconds = 8

/** A lease that a worker holds, and the execution that it is for. */
export interface HeldLease {
  id: string
  lease: string
}

/**
 * A locked row is being recorded at this moment, which renews its lease as well. Leases may be of new and of very old executions: Postgres is to look them up
 * by their ids (`= ANY (ARRAY(…))`), and not to read all between them.
 *
 * $1 leases · $2 seconds · $3 and $4 between which ids the executions lie
 */
const renewLeasesSql = `
  WITH held AS (
    SELECT * FROM json_to_recordset($1::json) AS held (id uuid, lease uuid)
  ),
  renewed_executions AS (
    UPDATE executions SET due_at = now() + make_interval(secs => $2::float8)
    WHERE id >= $3::uuid AND id <= $4::uuid AND id = ANY (ARRAY(
      SELECT executions.id
      FROM executions
      JOIN held ON executions.id = held.id AND executions.lease = held.lease
      WHERE executions.id = ANY (ARRAY(SELECT id FROM held)) AND executions.id >= $3::uuid AND executions.id <= $4::uuid
      FOR UPDATE OF executions SKIP LOCKED))
  )
  SELECT held.lease
  FROM held JOIN executions ON executions.id = held.id
  WHERE executions.id = ANY (ARRAY(SELECT id FROM held)) AND executions.id >= $3::uuid AND executions.id <= $4::uuid
    AND executions.lease IS DISTINCT FROM held.lease`

/**
 * Renews leases on the connection for urgent statements. An execution that is not stored yet is held, too: its commit may be in progress.
 *
 * @returns the leases that are lost: another worker has claimed their executions, or they are finished
 */
export async function renewLeases(database: Database, held: HeldLease[]): Promise<string[]> {
  const rows = await database.runUrgent<{ lease: string }>('renew_leases', renewLeasesSql, [
    writeJson(held),
    leaseSeconds,
    ...idRangeOf(held.map(({ id }) => id)),
  ])
  return rows.map(({ lease }) => lease)
}

const withdrawInterruptionsSql = `
  UPDATE executions SET
    interruptions = greatest(0, interruptions - (
      SELECT count(*) FROM unnest(lost_leases) AS counted (lease) WHERE lease = ANY ($2::uuid[]))),
    lost_leases = ARRAY(
      SELECT lease FROM unnest(lost_leases) AS counted (lease) WHERE lease <> ALL ($2::uuid[]))
  WHERE id = ANY ($1::uuid[]) AND id >= $3::uuid AND id <= $4::uuid AND lost_leases && $2::uuid[]`

/** Withdraws the interruptions that were counted for lost leases of a worker that is alive. All other interruptions stay. */
export async function withdrawInterruptions(database: Database, lost: HeldLease[]): Promise<void> {
  const ids = lost.map(({ id }) => id)
  const leases = lost.map(({ lease }) => lease)
  await database.run('withdraw_interruptions', withdrawInterruptionsSql, [ids, leases, ...idRangeOf(ids)])
}

const releaseLeasesSql = `
  WITH held AS (
    SELECT * FROM json_to_recordset($1::json) AS held (id uuid, lease uuid)
  )
  UPDATE executions SET due_at = now(), lease = NULL
  FROM held
  WHERE executions.id = held.id AND executions.lease = held.lease
    AND executions.id = ANY (ARRAY(SELECT id FROM held)) AND executions.id >= $2::uuid AND executions.id <= $3::uuid`

/** Releases executions: they are due at once, for another worker, and Postgres refuses what this worker still records of them. */
export async function releaseLeases(database: Database, held: HeldLease[]): Promise<void> {
  await database.run('release_leases', releaseLeasesSql, [
    writeJson(held),
    ...idRangeOf(held.map(({ id }) => id)),
  ])
}
