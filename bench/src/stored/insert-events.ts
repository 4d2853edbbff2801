import type pg from 'pg'

const days = 6

/**
 * Inserts events of the last six days by SQL: every n-th is a LEAD_CREATED, and the others are DEAL_WON. Their scores are 0 to 99.
 *
 * @param every 1: all of them are LEAD_CREATED
 */
export async function insertEvents(
  postgres: pg.Client,
  workspaceId: string,
  { events, every }: { events: number; every: number },
): Promise<void> {
  await postgres.query(statement, [workspaceId, events, every])
  // Autovacuum would do the same later.
  await postgres.query('VACUUM ANALYZE events')
}

/** $1 workspace · $2 number of events · $3 every n-th is of the trigger */
const statement = `
  WITH past AS (
    SELECT n, at, lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') AS hex, md5(n::text) AS digest
    FROM (
      SELECT n, now() - make_interval(days => ${days}) * (1 - n::float8 / $2::float8) AS at
      FROM generate_series(0, $2::int - 1) AS n
    ) AS times
  )
  INSERT INTO events (id, workspace_id, type, data, accepted_at, done_at)
  SELECT (left(hex, 8) || '-' || right(hex, 4) || '-7' || substr(digest, 1, 3) || '-8' || substr(digest, 4, 3) || '-'
          || substr(digest, 7, 12))::uuid,
         $1::uuid, CASE WHEN n % $3::int = 0 THEN 'LEAD_CREATED' ELSE 'DEAL_WON' END,
         json_build_object('name', 'Ada Lovelace', 'email', 'ada' || n % 5000 || '@example.com',
                           'score', n / $3::int % 100, 'status', 'new'), at, at
  FROM past ORDER BY n`
