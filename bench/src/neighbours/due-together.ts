import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { createExactAim } from '../aims.js'
import type { Benchmark } from '../benchmark.js'
import { runOnProduct } from '../product.js'
import { waitsOf } from '../statistics.js'
import { Table } from '../table.js'

/** What one user may have: 100 workspaces, and imports of 1,000 rules. */
const crowd = { workspaces: 100, schedules: 100_000, silences: 20_000 }
const warmUpMs = 5_000
const longestTick = 10_000
const longestSilence = 60_000

/** How late the tick and the alarm of one rule are, if those of a hundred thousand rules of another creator are due at the same minute. */
export const dueTogether: Benchmark = {
  about: `a lone rule's tick and silence beside ${crowd.schedules.toLocaleString('en-US')} schedules and ${crowd.silences.toLocaleString('en-US')} silent rules of another creator`,
  seconds: 200,
  rounds: 1,
  run: (options) =>
    runOnProduct(options, { workers: 1 }, async ({ postgres }) => {
      await insertDue(postgres, 'one', { workspaces: 1, schedules: 1, silences: 1 })
      await insertDue(postgres, 'crowd', crowd)
      await postgres.query('VACUUM ANALYZE')
      await delay(warmUpMs)
      // All are due at the next full minute, and fall silent a minute after it.
      await postgres.query(
        `UPDATE rules SET next_run_at = date_trunc('minute', now()) + interval '1 minute' WHERE schedule IS NOT NULL`,
      )
      await postgres.query(
        `UPDATE rule_silences SET counted_from = now(), checked_at = now(), silent_at = NULL`,
      )
      await delay(1_000 * options.seconds)
      const table = new Table()
      const late: Record<string, number> = {}
      for (const owner of ['one', 'crowd']) {
        const { rows: ticks } = await postgres.query<{ late: number }>(lateTicks, [owner])
        const { rows: silences } = await postgres.query<{ late: number }>(lateSilences, [owner])
        for (const [what, rows] of [
          ['ticks', ticks],
          ['silences', silences],
        ] as const) {
          const { count, p50Ms, maxMs } = waitsOf(rows.map((row) => row.late))
          table.add(`${what} of ${owner}, late`, { count, p50Ms, maxMs })
          late[`${what} of ${owner}`] = count === 0 ? Number.POSITIVE_INFINITY : maxMs
        }
      }
      const aims = [
        createExactAim('ms after its minute, the tick of a lone rule', late['ticks of one'] ?? 0, {
          atMost: longestTick,
        }),
        createExactAim('ms after its time, the silence of a lone rule', late['silences of one'] ?? 0, {
          atMost: longestSilence,
        }),
      ]
      return { tables: [table], aims }
    }),
}

async function insertDue(
  postgres: pg.Client,
  owner: string,
  { workspaces, schedules, silences }: typeof crowd,
): Promise<void> {
  await postgres.query(insertStatement, [owner, workspaces, schedules, silences])
}

/** $1 owner · $2 workspaces · $3 rules with a schedule · $4 rules that expect something */
const insertStatement = `
  WITH inserted_workspaces AS (
    INSERT INTO workspaces (id, name, created_by) SELECT gen_random_uuid(), 'Due', $1 FROM generate_series(1, $2::int) RETURNING id
  ),
  numbered AS (SELECT id, row_number() OVER () AS number FROM inserted_workspaces),
  inserted_rules AS (
    INSERT INTO rules (id, workspace_id, name, description, trigger, schedule, expect_every, conditions, actions, is_active, updated_at, scheduled_since, next_run_at)
    SELECT gen_random_uuid(), numbered.id, 'Rule', '', CASE WHEN rule <= $3 THEN 'SCHEDULE' ELSE 'LEAD_CREATED' END,
           CASE WHEN rule <= $3 THEN '{"every":"1m","catchUp":"none"}'::json END, CASE WHEN rule > $3 THEN '1m' END, '[]',
           '[{"type":"CREATE_TASK","config":{"title":"Task"}}]', true, now(), now(), CASE WHEN rule <= $3 THEN now() + interval '1 hour' END
    FROM generate_series(1, $3::int + $4::int) AS rule JOIN numbered ON number = rule % $2::int + 1
    RETURNING id, workspace_id, expect_every
  ),
  inserted_silences AS (
    INSERT INTO rule_silences (rule_id, workspace_id, seconds) SELECT id, workspace_id, 60 FROM inserted_rules WHERE expect_every IS NOT NULL
  )
  INSERT INTO rule_counters (rule_id, workspace_id) SELECT id, workspace_id FROM inserted_rules`

/** Also of ticks that were missed. $1 owner */
const lateTicks = `
  SELECT extract(epoch FROM accepted_at - (data ->> 'scheduledAt')::timestamptz)::float8 * 1000 + 60000 * (data ->> 'missed')::int AS late
  FROM events JOIN workspaces ON workspaces.id = workspace_id WHERE type = 'SCHEDULE' AND created_by = $1`

/** $1 owner */
const lateSilences = `
  SELECT extract(epoch FROM silent_at - counted_from - interval '1 minute')::float8 * 1000 AS late
  FROM rule_silences JOIN workspaces ON workspaces.id = workspace_id WHERE silent_at IS NOT NULL AND created_by = $1`
