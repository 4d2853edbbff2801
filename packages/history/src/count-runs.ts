import { clockSkewMs, type Database, firstIdOf, postgresNow } from '@automation/database'

/** What began with one version of a rule within the last hour, as far as it was counted. */
export interface RunCounts {
  runs: number
  /** Of these, those that succeeded or failed. */
  finished: number
  failed: number
}

/** A version of a rule, and since when it is watched. */
export interface WatchedVersion {
  ruleId: string
  version: number
  startedAt: Date
  /** The time of the oldest id that a run of the last hour may have, where a backlog has made it older than usual. */
  countedFrom: Date | null
}

const hourMs = 3_600_000
/** An id is made before its event is accepted, by another clock than that of `startedAt`. */
const earlyMs = 60_000

/**
 * The id of an execution has the time of its event, so the index bounds what is read. Nearly all events of the last hour's runs were accepted within
 * it, and after the version was watched; those of a backlog are as old as its oldest one. The limit bounds the rows that are read, whether
 * they count or not: of the usual ones the newest, of a backlog the oldest.
 *
 * $1 rule · $2 version · $3 lowest id, as usual · $4 limit · $5 lowest id of a backlog; equal to $3 where there is none
 */
const countRunsSql = `
  SELECT count(*)::int AS runs,
         (count(*) FILTER (WHERE status IN ('succeeded', 'failed')))::int AS finished,
         (count(*) FILTER (WHERE status = 'failed'))::int AS failed
  FROM (
    (SELECT status, rule_version, started_at FROM executions
     WHERE handler_id = $1::uuid AND id >= $3::uuid
     ORDER BY handler_id DESC, id DESC LIMIT $4::int)
    UNION ALL
    (SELECT status, rule_version, started_at FROM executions
     WHERE handler_id = $1::uuid AND id >= $5::uuid AND id < $3::uuid
     ORDER BY handler_id, id LIMIT $4::int)
  ) AS bounded_runs
  WHERE rule_version >= $2::int AND started_at > now() - interval '1 hour'`

/**
 * Counts the runs of the last hour, up to a limit. They are of the version, or of a later one: while it is watched, a later one differs in its
 * place in the group alone.
 */
export async function countRuns(
  database: Database,
  { ruleId, version, startedAt, countedFrom }: WatchedVersion,
  limit: number,
): Promise<RunCounts> {
  const usual = Math.max(postgresNow() - hourMs - clockSkewMs, startedAt.getTime() - earlyMs)
  const ofBacklog = Math.min(usual, countedFrom?.getTime() ?? usual)
  const values = [ruleId, version, firstIdOf(usual), limit, firstIdOf(ofBacklog)]
  const [counts] = await database.run<RunCounts>('count_runs', countRunsSql, values)
  return counts ?? { runs: 0, finished: 0, failed: 0 }
}
