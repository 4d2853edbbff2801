import { eventTypes } from '@automation/engine'
import type pg from 'pg'

/** Types of the catalogue. The events have the first one. */
export const types = eventTypes.slice(0, 20)

/** Only the first of the inserted rules matches it. */
export const growthData = { name: 'Ada Lovelace', segment: 'segment 1', status: 'new', score: 95 }

/** Inserts many rules by SQL, since the API allows 1,000 in a workspace. Rules of a type differ in their segment. */
export async function insertRules(postgres: pg.Client, workspaceId: string, count: number): Promise<void> {
  await postgres.query(statement, [workspaceId, types, count])
  await postgres.query('ANALYZE rules, rule_counters')
}

const statement = `
  WITH new AS (
    INSERT INTO rules (id, workspace_id, name, description, trigger, conditions, actions, is_active, updated_at)
    SELECT gen_random_uuid(), $1, 'Rule ' || n, '', ($2::text[])[1 + (n - 1) % array_length($2::text[], 1)],
           json_build_array(
             json_build_object('field', 'segment', 'operator', 'equals', 'value', 'segment ' || n),
             json_build_object('field', 'status', 'operator', 'equals', 'value', 'new'),
             json_build_object('field', 'score', 'operator', 'greater_than', 'value', 80)),
           '[{ "type": "CREATE_TASK", "config": { "title": "Call {{name}}" } }]', true, now()
    FROM generate_series(1, $3::int) AS n
    RETURNING id, workspace_id
  )
  INSERT INTO rule_counters (rule_id, workspace_id) SELECT id, workspace_id FROM new`
