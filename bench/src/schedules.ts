import { setTimeout as delay } from 'node:timers/promises'
import { makeTicks } from '@automation/ledger'
import type { Benchmark } from './benchmark.js'
import { runOnProduct, type Stage } from './product.js'
import { waitsOf } from './statistics.js'
import { Table } from './table.js'

const all = 10_000
const due = 100
/** No user can save it: it makes ticks enough for a percentile. */
const often = { every: '5s' }

/** What it costs to find the ticks that are due among many schedules, and how late they are made and done. */
export const schedules: Benchmark = {
  about: `ticks: ${due} that are due among ${all.toLocaleString('en-US')} schedules, and how late ${due} others are`,
  seconds: 60,
  rounds: 20,
  run: (options) =>
    runOnProduct(options, { workers: 0 }, async (stage) => {
      const table = new Table()
      await insertRules(
        stage,
        all,
        { cron: '0 9 * * 1-5', timezone: 'Europe/Berlin' },
        `now() + interval '1 day'`,
      )
      await stage.postgres.query('VACUUM ANALYZE rules')
      for (let round = -2; round < options.rounds; round++) {
        await stage.postgres.query(
          `UPDATE rules SET next_run_at = date_trunc('minute', now()) WHERE id IN (SELECT id FROM rules ORDER BY random() LIMIT ${due})`,
        )
        const startedAt = performance.now()
        const { events } = await makeTicks(stage.database)
        // The first rounds compile and find the changes of the clocks.
        if (round >= 0)
          table.add(`a sweep that makes ${due} ticks`, {
            ms: performance.now() - startedAt,
            ticks: events.length,
          })
      }
      await measureLateness(stage, options.seconds, table)
      return { tables: [table] }
    }),
}

async function measureLateness(stage: Stage, seconds: number, table: Table): Promise<void> {
  const { postgres, product } = stage
  const worker = await product.startWorker()
  await insertRules(stage, due, often, 'now()')
  await delay(seconds * 1_000)
  await worker.stop()
  const { rows } = await postgres.query<{ made: number; done: number }>(`
    SELECT extract(epoch FROM accepted_at - at)::float8 * 1000 AS made, extract(epoch FROM done_at - at)::float8 * 1000 AS done
    FROM (SELECT *, (data ->> 'scheduledAt')::timestamptz AS at FROM events WHERE type = 'SCHEDULE') AS ticks
    JOIN rules ON rules.id = rule_id AND schedule ->> 'every' IS NOT NULL
    WHERE done_at IS NOT NULL`)
  for (const what of ['made', 'done'] as const) {
    const { count, p50Ms, p99Ms, maxMs } = waitsOf(rows.map((row) => row[what]))
    table.add(`ticks, late until they are ${what}`, { count, p50Ms, p99Ms, maxMs })
  }
}

async function insertRules(
  { postgres }: Stage,
  count: number,
  schedule: object,
  nextRunAt: string,
): Promise<void> {
  await postgres.query(
    `WITH inserted_workspaces AS (
       INSERT INTO workspaces (id, name) SELECT gen_random_uuid(), 'Schedules' FROM generate_series(1, 10) RETURNING id
     ),
     numbered AS (SELECT id, row_number() OVER () AS number FROM inserted_workspaces),
     inserted_rules AS (
       INSERT INTO rules (id, workspace_id, name, description, trigger, schedule, conditions, actions, is_active, updated_at, scheduled_since, next_run_at)
       SELECT gen_random_uuid(), numbered.id, 'Rule', '', 'SCHEDULE', $2::json, '[]',
              '[{"type":"CREATE_TASK","config":{"title":"{{localTime}}"}}]', true, now(), now(), ${nextRunAt}
       FROM generate_series(1, $1::int) AS rule JOIN numbered ON number = rule % 10 + 1
       RETURNING id, workspace_id
     ),
     counters AS (INSERT INTO rule_counters (rule_id, workspace_id) SELECT id, workspace_id FROM inserted_rules)
     SELECT 1`,
    [count, JSON.stringify(schedule)],
  )
}
