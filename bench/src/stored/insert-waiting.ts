import { newId } from '@automation/database'
import type pg from 'pg'

const perStatement = 200_000

/** Inserts executions of a rule that wait for a day, each of an event of its own that retention has removed. */
export async function insertWaiting(
  postgres: pg.Client,
  { workspaceId, ruleId, count }: { workspaceId: string; ruleId: string; count: number },
): Promise<void> {
  for (let first = 0; first < count; first += perStatement) {
    const last = Math.min(first + perStatement, count) - 1
    await postgres.query(statement, [newId().slice(0, 24), workspaceId, ruleId, first, last])
  }
  // Autovacuum would do the same later.
  await postgres.query('VACUUM ANALYZE executions')
  await postgres.query('CHECKPOINT')
}

/** $1 beginning of the ids · $2 workspace · $3 rule · $4, $5 first and last number */
const statement = `
  INSERT INTO executions
    (id, workspace_id, event_id, event_type, handler_id, rule_version, status, results, started_at, due_at)
  SELECT ($1 || lpad(to_hex(n), 12, '0'))::uuid, $2::uuid, gen_random_uuid(), 'LEAD_CREATED', $3::uuid, 1, 'waiting',
         '[{"action":"WAIT","status":"waiting"}]', now(), now() + interval '1 day'
  FROM generate_series($4::int, $5::int) AS n`
