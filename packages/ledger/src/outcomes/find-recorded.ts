import { idRangeOf, type Statements, writeJson } from '@automation/database'
import { leaseSeconds } from '../unfinished/leases.js'
import { capResults } from './cap-results.js'
import type { RecordableExecution } from './execution-record.js'

/**
 * - An execution that has one of these leases belongs to this worker. It is kept: its lease begins anew, since it may have nearly expired.
 * - One that was recorded without a lease, and is as it was recorded, was recorded by this worker, or by another with the same result. It may be due
 *   sooner by now: a decision or an event ends its WAIT.
 *
 * $1 executions · $2 seconds of a lease · $3 and $4 between which ids they lie
 */
const findRecordedSql = `
  WITH recorded AS (
    SELECT * FROM json_to_recordset($1::json) AS recorded (id uuid, lease uuid, results json, ended_ms float8)
  ),
  kept_executions AS (
    UPDATE executions SET due_at = now() + make_interval(secs => $2::float8)
    FROM recorded
    WHERE executions.id = recorded.id AND executions.lease = recorded.lease
      AND executions.id = ANY (ARRAY(SELECT id FROM recorded)) AND executions.id >= $3::uuid AND executions.id <= $4::uuid
    RETURNING executions.id
  )
  SELECT id, NULL::timestamptz AS "dueAt" FROM kept_executions
  UNION ALL
  SELECT executions.id, executions.due_at
  FROM executions JOIN recorded ON executions.id = recorded.id AND recorded.lease IS NULL
  WHERE executions.id = ANY (ARRAY(SELECT id FROM recorded)) AND executions.id >= $3::uuid AND executions.id <= $4::uuid
    AND executions.lease IS NULL
    AND executions.results::text = recorded.results::text
    AND (executions.status = 'cancelled'
      OR executions.status = 'waiting' AND executions.due_at < to_timestamp(recorded.ended_ms / 1000)
      OR coalesce(executions.finished_at, executions.due_at) = to_timestamp(recorded.ended_ms / 1000)::timestamptz(3))`

/**
 * Finds those of some executions that this worker has recorded before, as they are: that was committed, and the response was lost. Notes when they are due.
 */
export async function findRecorded<Execution extends RecordableExecution>(
  database: Statements,
  executions: Execution[],
): Promise<Execution[]> {
  if (executions.length === 0) return []
  const rows = executions.map(({ record: { id, lease, results, finishedAt, dueAt } }) => {
    return { id, lease, results: capResults(results), ended_ms: (finishedAt ?? dueAt)?.getTime() }
  })
  const values = [writeJson(rows), leaseSeconds, ...idRangeOf(rows.map(({ id }) => id))]
  const found = await database.run<{ id: string; dueAt: Date | null }>(
    'find_recorded',
    findRecordedSql,
    values,
  )
  const dueAts = new Map(found.map(({ id, dueAt }) => [id, dueAt]))
  return executions.filter(({ record }) => {
    record.dueAt = dueAts.get(record.id) ?? record.dueAt
    return dueAts.has(record.id)
  })
}
