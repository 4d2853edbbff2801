import type pg from 'pg'

const perStatement = 200_000
const days = 30
const failedEvery = 50

/**
 * Inserts a history of a workspace by SQL: events of the last month, each with an execution of the first rule, and the
 * matching counters. Returns how long (seconds) it took.
 */
export async function insertHistory(
  postgres: pg.Client,
  workspaceId: string,
  executions: number,
): Promise<number> {
  const startedAt = performance.now()
  for (let first = 0; first < executions; first += perStatement) {
    const last = Math.min(first + perStatement, executions) - 1
    await postgres.query(statement, [workspaceId, first, last, executions])
  }
  await postgres.query(countersStatement, [workspaceId])
  // Autovacuum would do the same later.
  await postgres.query('VACUUM ANALYZE events, executions, rule_counters')
  return (performance.now() - startedAt) / 1_000
}

/** In order of time, with ids that begin with their time, as in the product. */
const idOf = (variant: string) =>
  `(time || '-${variant}' || substr(digest, 1, 3) || '-8' || substr(digest, 4, 3) || '-' || substr(digest, 7, 12))::uuid`

const statement = `
  WITH past AS (
    SELECT n, at, left(hex, 8) || '-' || right(hex, 4) AS time, md5(n::text) AS digest
    FROM (
      SELECT n, at, lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') AS hex
      FROM (
        SELECT n, now() - make_interval(days => ${days}) * (1 - n::float8 / $4::float8) AS at
        FROM generate_series($2::int, $3::int) AS n
      ) AS times
    ) AS hexes
  ), event AS (
    INSERT INTO events (id, workspace_id, type, data, accepted_at, done_at)
    SELECT ${idOf('7')}, $1::uuid, 'LEAD_CREATED',
           '{ "name": "Ada Lovelace", "email": "ada@example.com", "score": 95, "status": "new" }', at, at
    FROM past ORDER BY n
  )
  INSERT INTO executions
    (id, workspace_id, event_id, event_type, handler_id, rule_version, status, results, error, started_at, finished_at)
  SELECT ${idOf('8')}, $1::uuid, ${idOf('7')}, 'LEAD_CREATED', rule.id, 1,
         CASE WHEN n % ${failedEvery} = 0 THEN 'failed' ELSE 'succeeded' END::execution_status,
         '[{"action":"CREATE_TASK","status":"success"}]',
         CASE WHEN n % ${failedEvery} = 0 THEN 'The task has no title' END, at, at
  FROM past, (SELECT id FROM rules WHERE workspace_id = $1::uuid ORDER BY id LIMIT 1) AS rule
  ORDER BY n`

const countersStatement = `
  UPDATE rule_counters SET success_count = past.successes, failure_count = past.failures
  FROM (
    SELECT handler_id, count(*) FILTER (WHERE status = 'succeeded') AS successes,
           count(*) FILTER (WHERE status = 'failed') AS failures
    FROM executions WHERE workspace_id = $1 GROUP BY handler_id
  ) AS past
  WHERE rule_counters.rule_id = past.handler_id`
