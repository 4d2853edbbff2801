import type { Database } from '@automation/database'
import { capError, capResults } from './cap-results.js'
import type { LoadedEvent } from './load-events.js'
import { effectRowsOf, recordEffects, toStorableJson } from './record-effects.js'
import {
  columnsOf,
  type FollowUps,
  pickIds,
  type ReturnedRow,
  readFollowUps,
  selectFollowUps,
} from './returned-rows.js'
import type { Run } from './run.js'

/** An event that was taken up, with its runs, finished or not. */
export interface Outcome {
  event: LoadedEvent
  /** The rules considered; null where there was none. */
  ruleSetId: string | null
  /** Of those that match. */
  runs: Run[]
}

/** For how long (seconds) a worker has a run without a sign of life: then another one goes on with it. */
export const leaseSeconds = 8

/**
 * What the product promises of outcomes hangs on this statement and its twin (record-steps.ts): `done` turns events to
 * done, and everything else follows from the events that *this* statement turned. An event that another delivery of its
 * job finished first contributes nothing: no row, no count, no task, and no call, since none of its runs is answered.
 *
 * @returns for each outcome the runs that are this worker's to go on with; undefined where another delivery was first
 */
export async function recordOutcomes(
  database: Database,
  outcomes: Outcome[],
): Promise<{ held: (Run[] | undefined)[]; followUps: FollowUps | undefined }> {
  // Two deliveries of one job may meet in one commit, too: the first counts.
  const seen = new Set<string>()
  const first = outcomes.filter(({ event }) => !seen.has(event.id) && seen.add(event.id))
  const runs = first.flatMap((outcome) => outcome.runs)
  const { tasks, events } = effectRowsOf(runs)
  const rows = await database.run<ReturnedRow>('record_outcomes', statement, [
    toStorableJson(runs.map(rowOf)),
    toStorableJson(tasks),
    toStorableJson(events),
    JSON.stringify(first.map(eventRow)),
  ])
  const leases = pickIds(rows, 'held')
  const overtaken = pickIds(rows, 'overtaken')
  const recorded = new Set(first.filter(({ event }) => !overtaken.has(event.id)))
  const held = outcomes.map((outcome) =>
    recorded.has(outcome)
      ? outcome.runs.filter(({ lease }) => lease !== null && leases.has(lease))
      : undefined,
  )
  return { held, followUps: readFollowUps(rows, runs) }
}

const statement = `
  WITH done AS (
    UPDATE events SET done_at = now(), rule_set_id = new.rule_set_id
    FROM json_to_recordset($4::json) AS new (id uuid, rule_set_id uuid)
    WHERE events.id = new.id AND events.done_at IS NULL
      -- Says the same once more, in a way that an index answers: where Postgres does not know yet of a backlog, it would
      -- read all of it, taking it for a row or two.
      AND events.id = ANY (ARRAY(SELECT id FROM json_to_recordset($4::json) AS known (id uuid)))
    RETURNING events.id, events.workspace_id, events.type
  ),
  new AS (
    SELECT * FROM json_to_recordset($1::json) AS new (
      id uuid, event_id uuid, rule_id uuid, rule_version int, status execution_status, results json, error text,
      started_ms float8, finished_ms float8, due_ms float8, lease uuid, awaits_slot boolean, attention text)
  ),
  ran AS (
    INSERT INTO executions
      (id, workspace_id, event_id, event_type, rule_id, rule_version, status, results, error, started_at, finished_at,
       due_at, lease, awaits_slot)
    SELECT new.id, done.workspace_id, event_id, done.type, rule_id, rule_version, status, results, error,
           to_timestamp(started_ms / 1000), to_timestamp(finished_ms / 1000),
           CASE WHEN lease IS NULL THEN to_timestamp(due_ms / 1000)
                ELSE now() + make_interval(secs => ${leaseSeconds}) END,
           lease, awaits_slot
    FROM new JOIN done ON done.id = new.event_id
    ON CONFLICT (id) DO NOTHING
    RETURNING id, workspace_id, event_id, event_type, rule_id, status, error, finished_at, lease
  ),
  recorded AS (SELECT ran.*, new.attention FROM ran JOIN new USING (id)),
  ${recordEffects}
  SELECT 'held' AS what, ${columnsOf('lease')} FROM ran WHERE lease IS NOT NULL
  UNION ALL
  SELECT 'overtaken', ${columnsOf('id')} FROM json_to_recordset($4::json) AS known (id uuid)
  WHERE NOT EXISTS (SELECT 1 FROM done WHERE done.id = known.id)
  ${selectFollowUps}`

function rowOf(run: Run) {
  return {
    id: run.executionId,
    event_id: run.event.id,
    rule_id: run.rule.id,
    rule_version: run.rule.version,
    status: run.status,
    results: capResults(run.results),
    error: capError(run.error),
    started_ms: run.startedAt.getTime(),
    finished_ms: run.finishedAt?.getTime(),
    due_ms: run.dueAt?.getTime(),
    lease: run.lease,
    awaits_slot: run.awaitsSlot || undefined,
    attention: run.attention,
  }
}

function eventRow({ event, ruleSetId }: Outcome) {
  return { id: event.id, rule_set_id: ruleSetId }
}
