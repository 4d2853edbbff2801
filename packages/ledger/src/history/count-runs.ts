import { clockSkewMs, type Database, firstIdOf } from '@automation/database'

/** What began with one version of a rule within the last hour, as far as it was counted. */
export interface RunCounts {
  runs: number
  /** Of these, those that succeeded or failed. */
  finished: number
  failed: number
}

const hourMs = 3_600_000

/**
 * The id of an execution has the time of its event, so the index bounds what is read: an event that was accepted more than an hour before its
 * run is not found. The newest are counted first.
 *
 * $1 rule · $2 version · $3 lowest id · $4 limit
 */
const countRunsSql = `
  SELECT count(*)::int AS runs,
         (count(*) FILTER (WHERE status IN ('succeeded', 'failed')))::int AS finished,
         (count(*) FILTER (WHERE status = 'failed'))::int AS failed
  FROM (
    SELECT status FROM executions
    WHERE rule_id = $1::uuid AND id >= $3::uuid AND rule_version = $2::int
      AND started_at > now() - interval '1 hour'
    ORDER BY rule_id DESC, id DESC LIMIT $4::int
  ) AS recent_runs`

/** Counts the runs of the last hour, up to a limit. They are of the version: those of another one are not counted. */
export async function countRuns(
  database: Database,
  { ruleId, version }: { ruleId: string; version: number },
  limit: number,
): Promise<RunCounts> {
  const lowest = firstIdOf(Date.now() - hourMs - clockSkewMs)
  const [counts] = await database.run<RunCounts>('count_runs', countRunsSql, [ruleId, version, lowest, limit])
  return counts ?? { runs: 0, finished: 0, failed: 0 }
}
