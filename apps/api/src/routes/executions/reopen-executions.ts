import { Prisma, type WorkspaceDatabase, type WorkspaceTransaction } from '@automation/database'
import { skippedAfterFailure } from '@automation/engine'
import { countMatches, type Matches } from '../../count-matches.js'
import { joinNarrowing, type Narrowing } from '../../page.js'

/** With which definition a run goes on: the one it began with, or the rule as it is now. */
export type VersionToRun = 'same' | 'latest'

export interface ReopenedExecution {
  id: string
  eventId: string
  dueAt: Date
}

/** Between the runs that are opened again together, so that a thousand take a minute and storm nobody. */
const spacingSeconds = 0.06

/**
 * Opens finished executions again, the oldest first. What the product promises of them hangs on this one statement:
 *
 * - Only those that failed or were cancelled, and whose rule is there to go on: in the version that is asked for, and
 *   switched on, unless it was executed by hand; a delivery needs its subscription.
 * - What is done stays done. Results of actions that succeeded, or whose `when` did not hold, stay; all others, a WAIT that
 *   was cut short included, begin anew, and keep their attempts to be looked at. Actions are matched by their place; one
 *   that has another type in the other version begins anew, and what lies beyond its end is dropped.
 * - A run counts once, when it ends: one that failed is taken off its rule's failures, also off those in a row.
 *
 * Counters are locked in the order of their ids, as the ledger does.
 */
export function reopenExecutions(
  transaction: WorkspaceTransaction,
  chosen: Narrowing,
  version: VersionToRun,
  limit: number,
): Promise<ReopenedExecution[]> {
  return transaction.$queryRaw<ReopenedExecution[]>(Prisma.sql`
    WITH chosen AS MATERIALIZED (
      SELECT executions.*, rule_versions.version, rule_versions.actions
      FROM ${retryable(chosen, version)}
      ORDER BY executions.id LIMIT ${limit} FOR UPDATE OF executions
    ),
    reopened AS (
      UPDATE executions SET
        status = 'retrying', error = NULL, finished_at = NULL, lease = NULL,
        rule_version = coalesce(chosen.version, chosen.rule_version),
        due_at = now() + make_interval(secs => ${spacingSeconds}::float8 * (place - 1)),
        results = coalesce(
          (SELECT json_agg(${reopenedResult} ORDER BY index)
           FROM json_array_elements(chosen.results) WITH ORDINALITY AS known (result, index)
           WHERE actions IS NULL OR index <= json_array_length(actions)),
          '[]')
      FROM (SELECT *, row_number() OVER (ORDER BY id) AS place FROM chosen) AS chosen
      WHERE executions.id = chosen.id
      RETURNING executions.id, executions.event_id, executions.due_at
    ),
    tally AS (
      SELECT rule_id, count(*) AS failures,
             count(*) FILTER (WHERE last_success_at IS NULL OR finished_at > last_success_at) AS in_a_row
      FROM chosen JOIN rule_counters USING (rule_id)
      WHERE status = 'failed'
      GROUP BY rule_id
    ),
    locked AS (
      SELECT rule_id FROM rule_counters WHERE rule_id IN (SELECT rule_id FROM tally) ORDER BY rule_id FOR UPDATE
    ),
    uncounted AS (
      UPDATE rule_counters AS counters SET
        failure_count = counters.failure_count - tally.failures,
        consecutive_failures = greatest(counters.consecutive_failures - tally.in_a_row, 0)
      FROM tally JOIN locked USING (rule_id)
      WHERE counters.rule_id = tally.rule_id
    )
    SELECT id, event_id AS "eventId", due_at AS "dueAt" FROM reopened ORDER BY id`)
}

/** How many there are that could be opened again. */
export function countRetryable(
  database: Pick<WorkspaceDatabase, '$queryRaw'>,
  chosen: Narrowing,
  version: VersionToRun,
): Promise<Matches> {
  return countMatches(database, retryable(chosen, version))
}

function retryable(chosen: Narrowing, version: VersionToRun): Prisma.Sql {
  const wanted = version === 'latest' ? Prisma.sql`rules.version` : Prisma.sql`executions.rule_version`
  return Prisma.sql`executions
    LEFT JOIN rules ON rules.id = executions.rule_id AND rules.workspace_id = executions.workspace_id
    LEFT JOIN rule_versions ON rule_versions.rule_id = rules.id AND rule_versions.version = ${wanted}
    WHERE ${joinNarrowing(chosen)} AND executions.status IN ('failed', 'cancelled') AND (
      rule_versions.version IS NOT NULL AND (rules.is_active OR executions.id = executions.event_id)
      OR EXISTS (
        SELECT FROM subscriptions
        WHERE subscriptions.id = executions.rule_id AND subscriptions.workspace_id = executions.workspace_id
          AND subscriptions.is_active))`
}

/** Nothing but its attempts is kept of an action that begins anew: its failures are counted from here. */
const reopenedResult = Prisma.sql`
  CASE
    WHEN actions->(index::int - 1)->>'type' <> result->>'action'
      THEN json_build_object('action', actions->(index::int - 1)->'type', 'status', 'pending')
    WHEN result->>'status' = 'success'
      OR result->>'status' = 'skipped' AND result->>'reason' <> ${skippedAfterFailure} THEN result
    WHEN result->'attempts' IS NULL
      THEN json_build_object('action', result->'action', 'status', 'pending')
    ELSE json_build_object('action', result->'action', 'status', 'pending', 'attempts', result->'attempts')
  END`
