// Parts that several statements have: items of a WITH list, which read the items before them that their comments name, and columns.

/**
 * The events that this statement turns done, of `input_events`. One that is parked is not: it may be in another installation by now (docs/operate/cells.md).
 * $4 and $5: between which ids they lie.
 */
export const finishedEventsSql = `finished_events AS (
    UPDATE events SET done_at = now(), rule_set_id = input_events.rule_set_id, rules_version = input_events.rules_version,
      outranked = input_events.outranked
    FROM input_events
    WHERE events.id = input_events.id AND events.done_at IS NULL AND events.parked IS NULL
      AND events.id = ANY (ARRAY(SELECT id FROM input_events)) AND events.id >= $4::uuid AND events.id <= $5::uuid
    RETURNING events.id, events.workspace_id, events.type
  )`

/** Those of `pausing_executions` whose rule or subscription is off, with the reason. Locks the rules and subscriptions. */
export const stoppedExecutionsSql = `locked_handlers AS (
    SELECT * FROM (
      SELECT id, is_active, mode FROM rules
      WHERE id = ANY (ARRAY(SELECT handler_id FROM pausing_executions WHERE NOT is_delivery))
      ORDER BY id FOR NO KEY UPDATE) AS locked_rules
    UNION ALL
    SELECT * FROM (
      SELECT id, is_active, 'shadow' FROM subscriptions
      WHERE id = ANY (ARRAY(SELECT handler_id FROM pausing_executions WHERE is_delivery))
      ORDER BY id FOR NO KEY UPDATE) AS locked_subscriptions
  ),
  stopped_executions AS (
    SELECT pausing.id,
           CASE WHEN is_delivery THEN 'The subscription was switched off' ELSE 'The rule was switched off' END AS reason
    FROM pausing_executions AS pausing LEFT JOIN locked_handlers AS handlers ON handlers.id = handler_id
    WHERE (handlers.is_active OR (pausing.is_by_hand AND handlers.mode <> 'shadow')) IS NOT TRUE
  )`

/** The tasks of `recorded_executions`: $2. */
export const insertedTasksSql = `inserted_tasks AS (
    INSERT INTO tasks
      (id, workspace_id, execution_id, action_index, rule_id, title, description, assignee_id, priority, due_at,
       created_at)
    SELECT i.id, i.workspace_id, i.execution_id, i.action_index, i.rule_id, i.title, i.description, i.assignee_id, i.priority,
           to_timestamp(i.due_ms / 1000), to_timestamp(i.created_ms / 1000)
    FROM json_to_recordset($2::json) AS i (
      id uuid, workspace_id uuid, execution_id uuid, action_index int, rule_id uuid, title text, description text,
      assignee_id text, priority text, due_ms float8, created_ms float8)
    JOIN recorded_executions ON recorded_executions.id = i.execution_id
    ON CONFLICT (id) DO NOTHING
  )`

/** Locks the counters of `rule_totals`. */
export const lockedCountersSql = `locked_counters AS (
    SELECT rule_id FROM rule_counters WHERE rule_id IN (SELECT rule_id FROM rule_totals) ORDER BY rule_id FOR UPDATE
  )`

/** What follows from `recorded_executions`: tasks ($2), emitted events ($3), deliveries of failures, counters. */
export const effectsSql = `${insertedTasksSql},
  inserted_events AS (
    -- The transaction may have waited for keys: an event from before the wait would come after the end of a WAIT's time.
    INSERT INTO events (id, workspace_id, type, data, accepted_at, depth, caused_by, root_id, job_id)
    SELECT new_events.id, new_events.workspace_id, new_events.type, new_events.data, (SELECT clock_timestamp()), new_events.depth,
           new_events.caused_by, new_events.root_id, new_events.job_id
    FROM json_to_recordset($3::json) AS new_events (
      id uuid, workspace_id uuid, type text, data json, depth int, caused_by uuid, root_id uuid, job_id uuid)
    JOIN recorded_executions ON recorded_executions.id = new_events.caused_by
    ON CONFLICT (id) DO NOTHING
  ),
  inserted_deliveries AS (
    INSERT INTO events (id, workspace_id, type, data, addressee_kind, addressee_id)
    SELECT
      -- A UUID v8 in the order of time that follows from the failure and the subscription: each failure is delivered once.
      (SELECT (left(time, 8) || '-' || right(time, 4) || '-8' || left(digest, 3) || '-8' || substr(digest, 4, 3) || '-'
               || right(digest, 12))::uuid
       FROM (SELECT lpad(to_hex((extract(epoch FROM r.finished_at) * 1000)::bigint), 12, '0') AS time,
                    md5(r.id::text || s.id::text || r.finished_at::text) AS digest) AS parts),
      r.workspace_id,
      'execution.failed',
      json_build_object('executionId', r.id, 'ruleId', r.handler_id, 'eventId', r.event_id, 'eventType', r.event_type,
        'error', r.error, 'failedAt', to_char(r.finished_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')),
      'subscription',
      s.id
    FROM recorded_executions r
    JOIN subscriptions s
      ON s.workspace_id = r.workspace_id AND s.is_active AND 'execution.failed' = ANY (s.event_types)
    WHERE r.status = 'failed' AND NOT r.is_delivery
    ON CONFLICT (id) DO NOTHING
    RETURNING id, workspace_id, addressee_id
  ),
  counted_executions AS (
    SELECT *, row_number() OVER (PARTITION BY handler_id ORDER BY finished_at, id) AS position
    FROM recorded_executions
    WHERE status IN ('succeeded', 'failed')
  ),
  ranked_executions AS (
    SELECT *, coalesce(max(position) FILTER (WHERE status = 'succeeded') OVER (PARTITION BY handler_id), 0) AS last_success
    FROM counted_executions
  ),
  rule_totals AS (
    SELECT handler_id AS rule_id,
           count(*) FILTER (WHERE status = 'succeeded') AS successes,
           count(*) FILTER (WHERE status = 'failed') AS failures,
           count(*) FILTER (WHERE status = 'failed' AND position > last_success) AS failures_since,
           max(finished_at) FILTER (WHERE status = 'succeeded') AS success_at,
           max(finished_at) FILTER (WHERE status = 'failed') AS failure_at,
           min(finished_at) FILTER (WHERE status = 'failed' AND position > last_success) AS failing_since,
           (array_agg(error ORDER BY position DESC) FILTER (WHERE status = 'failed'))[1] AS error,
           (array_agg(attention ORDER BY position DESC) FILTER (WHERE attention IS NOT NULL))[1] AS attention
    FROM ranked_executions
    GROUP BY handler_id
  ),
  ${lockedCountersSql},
  updated_counters AS (
    UPDATE rule_counters AS counters SET
      success_count = counters.success_count + rule_totals.successes,
      failure_count = counters.failure_count + rule_totals.failures,
      consecutive_failures =
        CASE WHEN rule_totals.successes > 0 THEN rule_totals.failures_since
             ELSE counters.consecutive_failures + rule_totals.failures END,
      last_success_at = greatest(counters.last_success_at, rule_totals.success_at),
      last_failure_at = greatest(counters.last_failure_at, rule_totals.failure_at),
      failing_since =
        CASE WHEN rule_totals.successes > 0 OR counters.consecutive_failures = 0 THEN rule_totals.failing_since
             ELSE counters.failing_since END,
      -- Of the failure at last_failure_at, also where an earlier one is recorded later.
      last_error = CASE WHEN rule_totals.error IS NULL OR counters.last_failure_at > rule_totals.failure_at THEN counters.last_error
                        ELSE rule_totals.error END,
      -- A reason to pause the rule stays until somebody changes or activates it (clearAttention).
      attention_reason =
        CASE WHEN rule_totals.attention IS NULL OR counters.attention_reason IN ('auto_paused', 'worker_crashes', 'work_budget')
             THEN counters.attention_reason ELSE rule_totals.attention END,
      attention_at =
        CASE WHEN rule_totals.attention IS NULL
               OR counters.attention_reason IN ('auto_paused', 'worker_crashes', 'work_budget')
                  AND counters.attention_reason <> rule_totals.attention
             THEN counters.attention_at ELSE rule_totals.failure_at END
    FROM rule_totals JOIN locked_counters USING (rule_id)
    WHERE counters.rule_id = rule_totals.rule_id
    RETURNING counters.workspace_id, counters.rule_id, counters.consecutive_failures
  )`
