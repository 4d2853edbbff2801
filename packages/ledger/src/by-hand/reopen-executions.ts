import { firstTaskIdOf, Prisma, type UnscopedSql, type WorkspaceTransaction } from '@automation/database'
import { maxQueued, skippedAfterFailure } from '@automation/engine'
import { neverDue } from '../keys/never-due.js'
import { lockKeys } from '../keys/with-keys.js'
import { mayRunSql } from '../may-run.js'
import { countMatches, type Matches } from './count-matches.js'
import { joinNarrowing, type Narrowing } from './narrowing.js'

/** The definition with which an execution continues: the one that it began with, or the rule as it is now. */
export type VersionToRun = 'same' | 'latest'

export interface ReopenedExecution {
  id: string
  eventId: string
  dueAt: Date
}

/** Between executions that are reopened together: a thousand take a minute, so that no target is flooded. */
const spacingSeconds = 0.06
/** What its column holds. Tasks of one that is reopened more often differ by their moment alone. */
const maxReopened = 32_767

/**
 * Reopens finished executions, the oldest first.
 *
 * - None of an event of which a value was erased: it would act for `[erased]`.
 * - Only executions that failed or were cancelled, but by nobody, and whose rule can continue: it exists in the requested version, and it is
 *   switched on unless it was executed by hand. A delivery needs its subscription.
 * - Results of actions that succeeded, or whose `when` did not hold, stay. All other actions, an interrupted WAIT included, start
 *   again and keep their attempts for inspection. Actions are matched by index. An action that has another type in the other
 *   version starts again, and results beyond the end of that version are dropped.
 * - A decision stays with the definition that asked for it, or with the result of its WAIT. Another definition may ask others, for other options.
 * - A task whose result does not stay gets an index below 0. If a version creates a task at that index again, it is another task.
 * - An execution counts once, when it ends: a failed one is subtracted from its rule's failures, also from those in a row.
 * - One that failed before its key was asked has claimed nothing, so it would run beside others of its key: only a replay of its event asks. Nor is
 *   one reopened with a version that excludes others of its key, if its own did not.
 * - A batch continues only with a version that collects: the executions of its events say that it acts for them.
 * - Where executions of a key exclude each other, one is reopened only while no other one of its key is unfinished, and of several the oldest.
 *   Where they queue, it waits for its key, in the order of their events: mostly before all that wait. A full queue takes none.
 * - Counters are locked in the order of their ids, as every statement of the ledger does.
 */
export async function reopenExecutions(
  transaction: WorkspaceTransaction,
  narrowing: Narrowing,
  version: VersionToRun,
  limit: number,
): Promise<ReopenedExecution[]> {
  const ids = await lockKeysOf(transaction, narrowing, version, limit)
  return transaction.$queryRaw<ReopenedExecution[]>(Prisma.sql`
    WITH locked_executions AS MATERIALIZED (
      SELECT executions.*, rule_versions.version, rule_versions.actions, ${queues} AS queues
      FROM ${retryable(narrowing, version)} AND executions.id = ANY (${ids}::uuid[])
      ORDER BY executions.id FOR UPDATE OF executions
    ),
    chosen_executions AS MATERIALIZED (
      SELECT *, turn > 1 OR is_key_in_use AS waits_for_key FROM (
        SELECT locked_executions.*, ${keyIsInUse('locked_executions')} AS is_key_in_use,
               row_number() OVER (
                 PARTITION BY coalesce(key_claims.key_id, locked_executions.id)
                 ORDER BY key_claims.accepted_at, key_claims.event_id) AS turn,
               (SELECT count(*) FROM key_claims AS waiting
                WHERE waiting.key_id = key_claims.key_id AND waiting.workspace_id = key_claims.workspace_id
                  AND waiting.place = 'queued') AS queued
        FROM locked_executions
        LEFT JOIN key_claims ON key_claims.execution_id = locked_executions.id
          AND key_claims.workspace_id = locked_executions.workspace_id AND key_claims.is_exclusive
      ) AS ordered_executions
      WHERE turn = 1 AND NOT is_key_in_use OR queues AND queued + turn <= ${maxQueued}
    ),
    reopened_executions AS (
      UPDATE executions SET
        status = 'retrying', error = NULL, finished_at = NULL, lease = NULL,
        reopened = least(executions.reopened + 1, ${maxReopened}::int),
        rule_version = coalesce(chosen_executions.version, chosen_executions.rule_version),
        decision = CASE WHEN ${keepsDecision} THEN executions.decision END,
        due_at = CASE WHEN waits_for_key THEN ${neverDue}::timestamptz
                      ELSE now() + make_interval(secs => ${spacingSeconds}::float8 * (position - 1)) END,
        results = coalesce(
          (SELECT json_agg(${reopenedResult} ORDER BY index)
           FROM json_array_elements(chosen_executions.results) WITH ORDINALITY AS known (result, index)
           WHERE actions IS NULL OR index <= json_array_length(actions)),
          '[]')
      FROM (SELECT *, row_number() OVER (ORDER BY id) AS position FROM chosen_executions) AS chosen_executions
      WHERE executions.id = chosen_executions.id
      RETURNING executions.id, executions.event_id, executions.due_at
    ),
    held_keys AS (
      UPDATE key_claims SET place = CASE WHEN waits_for_key THEN 'queued' ELSE 'holds' END FROM chosen_executions
      WHERE key_claims.execution_id = chosen_executions.id AND key_claims.workspace_id = chosen_executions.workspace_id
        AND key_claims.is_exclusive
    ),
    replaced_tasks AS (
      UPDATE tasks SET action_index = -1 - action_index FROM chosen_executions
      WHERE tasks.execution_id = chosen_executions.id AND tasks.workspace_id = chosen_executions.workspace_id
        AND tasks.id >= ${firstTaskIdOf(ids)}::uuid AND action_index >= 0
        AND (actions->action_index->>'type' = 'CREATE_TASK' AND results->action_index->>'action' = 'CREATE_TASK'
             AND results->action_index->>'status' = 'success') IS NOT TRUE
    ),
    rule_totals AS (
      SELECT rule_id, count(*) AS failures,
             count(*) FILTER (WHERE last_success_at IS NULL OR finished_at > last_success_at) AS in_a_row
      FROM chosen_executions JOIN rule_counters ON rule_counters.rule_id = chosen_executions.handler_id
      WHERE status = 'failed'
      GROUP BY rule_id
    ),
    locked_counters AS (
      SELECT rule_id FROM rule_counters WHERE rule_id IN (SELECT rule_id FROM rule_totals) ORDER BY rule_id FOR UPDATE
    ),
    updated_counters AS (
      UPDATE rule_counters AS counters SET
        failure_count = counters.failure_count - rule_totals.failures,
        consecutive_failures = greatest(counters.consecutive_failures - rule_totals.in_a_row, 0)
      FROM rule_totals JOIN locked_counters USING (rule_id)
      WHERE counters.rule_id = rule_totals.rule_id
    )
    SELECT id, event_id AS "eventId", due_at AS "dueAt" FROM reopened_executions ORDER BY id`)
}

/** Locks the keys of what is to be reopened: under their locks it stays known who has them. @returns the ids of these executions */
async function lockKeysOf(
  transaction: WorkspaceTransaction,
  narrowing: Narrowing,
  version: VersionToRun,
  limit: number,
): Promise<string[]> {
  const rows = await transaction.$queryRaw<{ id: string; keyId: string | null }[]>(Prisma.sql`
    SELECT chosen.id, key_claims.key_id AS "keyId" FROM (
      SELECT executions.id, executions.workspace_id FROM ${retryable(narrowing, version)}
      ORDER BY executions.id LIMIT ${limit}) AS chosen
    LEFT JOIN key_claims ON key_claims.execution_id = chosen.id AND key_claims.workspace_id = chosen.workspace_id
      AND key_claims.is_exclusive`)
  const keys = rows.flatMap(({ keyId }) => (keyId === null ? [] : `key ${keyId}`))
  if (keys.length > 0) await lockKeys(transaction, keys)
  return rows.map(({ id }) => id)
}

/** Counts the executions that can be reopened, and as refused those that ended without success and cannot. */
export async function countRetryable(
  database: UnscopedSql,
  narrowing: Narrowing,
  version: VersionToRun,
): Promise<Matches & { refused: number }> {
  const counted = await countMatches(database, retryable(narrowing, version))
  const { matched } = await countMatches(database, unsuccessful(narrowing))
  return { ...counted, refused: Math.max(0, matched - counted.matched) }
}

function unsuccessful(narrowing: Narrowing): Prisma.Sql {
  return Prisma.sql`executions WHERE ${joinNarrowing(narrowing)} AND executions.status IN ('failed', 'cancelled')`
}

const mayRun = Prisma.raw(mayRunSql('rules', 'executions.id = executions.event_id'))

function retryable(narrowing: Narrowing, version: VersionToRun): Prisma.Sql {
  const wanted = version === 'latest' ? Prisma.sql`rules.version` : Prisma.sql`executions.rule_version`
  return Prisma.sql`executions
    LEFT JOIN rules ON rules.id = executions.handler_id AND rules.workspace_id = executions.workspace_id
    LEFT JOIN rule_versions ON rule_versions.rule_id = rules.id AND rule_versions.version = ${wanted}
    WHERE ${joinNarrowing(narrowing)} AND executions.status IN ('failed', 'cancelled') AND executions.cancel_requested IS NULL
    AND (SELECT erased_at FROM events WHERE events.id = executions.event_id AND events.workspace_id = executions.workspace_id) IS NULL
    AND ${isUnasked} IS NOT TRUE AND ${losesBatch} IS NOT TRUE AND (${queues} OR NOT ${keyIsInUse('executions')}) AND (
      rule_versions.version IS NOT NULL AND ${mayRun}
      OR EXISTS (
        SELECT FROM subscriptions
        WHERE executions.is_delivery AND subscriptions.id = executions.handler_id AND subscriptions.workspace_id = executions.workspace_id
          AND subscriptions.is_active))`
}

const claimsKey = Prisma.sql`EXISTS (
    SELECT FROM key_claims
    WHERE key_claims.execution_id = executions.id AND key_claims.workspace_id = executions.workspace_id`

/**
 * Whether it failed before its rule's `perKey` was asked, or the wanted version excludes others of its key and it has claimed none. One that
 * somebody executed by hand asks for nothing.
 */
const isUnasked = Prisma.sql`(
  rule_versions.per_key IS NOT NULL AND executions.id <> executions.event_id AND (
    json_array_length(executions.results) = 0 AND NOT ${claimsKey})
    OR rule_versions.per_key->>'whileRunning' IS NOT NULL AND NOT ${claimsKey} AND key_claims.is_exclusive)))`

/** Whether it is a batch, and the wanted version would act for one event of it. */
const losesBatch = Prisma.sql`(
  rule_versions.version IS NOT NULL AND rule_versions.per_key->'collect' IS NULL
  AND EXISTS (
    SELECT FROM key_claims
    WHERE key_claims.batch_id = executions.id AND key_claims.workspace_id = executions.workspace_id))`

/** Whether an execution that is reopened waits for its key. */
const queues = Prisma.sql`coalesce(rule_versions.per_key->>'whileRunning' = 'queue', false)`

/** Whether another execution of its key has not ended, and the two exclude each other. */
function keyIsInUse(execution: 'executions' | 'locked_executions'): Prisma.Sql {
  return Prisma.sql`EXISTS (
      SELECT FROM key_claims AS own JOIN key_claims AS others USING (key_id) JOIN executions AS other ON other.id = others.execution_id
      WHERE own.execution_id = ${Prisma.raw(execution)}.id AND own.workspace_id = ${Prisma.raw(execution)}.workspace_id
        AND own.is_exclusive AND others.execution_id <> own.execution_id
        AND others.place IN ('holds', 'queued') AND other.due_at IS NOT NULL)`
}

const keepsDecision = Prisma.sql`(
  coalesce(chosen_executions.version = chosen_executions.rule_version, true) OR EXISTS (
    SELECT FROM json_array_elements(chosen_executions.results) WITH ORDINALITY AS known (result, index)
    WHERE result->'decision' IS NOT NULL AND result->>'status' = 'success' AND actions->(index::int - 1)->>'type' = 'WAIT'
      AND actions->(index::int - 1)->'config'->'decision' IS NOT NULL))`

/** Only the attempts of an action that starts again are kept: its failures are counted from 0. */
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
