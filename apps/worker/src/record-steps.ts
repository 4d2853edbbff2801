import type { Database } from '@automation/database'
import { capError, capResults } from './cap-results.js'
import { effectRowsOf, recordEffects, toStorableJson } from './record-effects.js'
import { leaseSeconds } from './record-outcomes.js'
import {
  columnsOf,
  type FollowUps,
  pickIds,
  type ReturnedRow,
  readFollowUps,
  selectFollowUps,
} from './returned-rows.js'
import type { Run } from './run.js'

/** A run that went on, under the lease that its worker holds. */
export interface Step {
  run: Run
  lease: string
}

/**
 * Writes how far runs have come: an intent before a call, its result after it, a pause, or the end. Only the holder of the
 * lease may: who lost it (another worker took the run up, since this one gave no sign of life) writes nothing.
 *
 * A run that pauses though its rule was switched off or deleted meanwhile is cancelled; executed by hand, it does not ask.
 *
 * @returns for each step whether it was written
 */
export async function recordSteps(
  database: Database,
  steps: Step[],
): Promise<{ written: boolean[]; followUps: FollowUps | undefined }> {
  const runs = steps.map(({ run }) => run)
  const { tasks, events } = effectRowsOf(runs)
  const rows = await database.run<ReturnedRow>('record_steps', statement, [
    toStorableJson(steps.map(rowOf)),
    toStorableJson(tasks),
    toStorableJson(events),
  ])
  const ids = pickIds(rows, 'moved')
  const written = runs.map(({ executionId }) => ids.has(executionId))
  return { written, followUps: readFollowUps(rows, runs) }
}

const statement = `
  WITH new AS (
    SELECT *,
      (status IN ('waiting', 'retrying') AND is_bound_to_rule
        AND NOT EXISTS (SELECT 1 FROM rules WHERE rules.id = new.rule_id AND rules.is_active)) AS is_off
    FROM json_to_recordset($1::json) AS new (
      id uuid, held uuid, rule_id uuid, status execution_status, results json, error text, finished_ms float8,
      due_ms float8, lease uuid, awaits_slot boolean, attention text, is_bound_to_rule boolean)
  ),
  moved AS (
    UPDATE executions SET
      status = CASE WHEN is_off THEN 'cancelled' ELSE new.status END,
      error = CASE WHEN is_off THEN 'The rule was switched off' ELSE new.error END,
      results = new.results,
      finished_at = CASE WHEN is_off THEN now() ELSE to_timestamp(finished_ms / 1000) END,
      due_at = CASE WHEN is_off THEN NULL
                    WHEN new.lease IS NULL THEN to_timestamp(due_ms / 1000)
                    ELSE now() + make_interval(secs => ${leaseSeconds}) END,
      lease = new.lease,
      awaits_slot = new.awaits_slot
    FROM new
    WHERE executions.id = new.id AND executions.lease = new.held
      -- Looked up by their ids, however small Postgres takes the table for.
      AND executions.id = ANY (ARRAY(SELECT id FROM json_to_recordset($1::json) AS known (id uuid)))
    RETURNING executions.id, workspace_id, event_id, event_type, executions.rule_id, executions.status,
              executions.error, finished_at, new.attention
  ),
  recorded AS (SELECT * FROM moved),
  ${recordEffects}
  SELECT 'moved' AS what, ${columnsOf('id')} FROM moved
  ${selectFollowUps}`

function rowOf({ run, lease }: Step) {
  return {
    id: run.executionId,
    held: lease,
    rule_id: run.rule.id,
    status: run.status,
    results: capResults(run.results),
    error: capError(run.error),
    finished_ms: run.finishedAt?.getTime(),
    due_ms: run.dueAt?.getTime(),
    lease: run.lease,
    awaits_slot: run.awaitsSlot || undefined,
    attention: run.attention,
    is_bound_to_rule: run.event.ruleId === null,
  }
}
