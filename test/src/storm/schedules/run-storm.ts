import { setTimeout as delay } from 'node:timers/promises'
import { type RunningProduct, startRunningProduct } from '../../fixtures/product.js'
import { createRandom } from '../random.js'
import { checkTicks, type Tick } from './check-ticks.js'
import { runFaults } from './faults.js'
import { makeScheduledRules, startChanges } from './rules.js'

export interface Options {
  seed: number
  seconds: number
  rules: number
  workers: number
  /** How long (ms) all workers are away once. */
  outageMs: number
}

export interface Report {
  ticks: number
  missed: number
  changes: number
  faults: Map<string, number>
  violations: string[]
}

/** The next tick of a rule is not older than that (ms) in the end. */
const latestMs = 6_000

/**
 * Rules with schedules of seconds, which no user can save, while workers are killed, put to sleep and away all together, Redis is wiped and
 * Postgres dies. In the end each due time has its event, or is counted by the next one, and each event has one execution and one task.
 */
export async function runStorm({ seed, seconds, rules, workers, outageMs }: Options): Promise<Report> {
  const running = await startRunningProduct({ apis: 1, workers })
  try {
    const { database } = running
    const random = createRandom(seed)
    const scheduled = await makeScheduledRules(running, rules, random)
    const changes = startChanges(running, scheduled, createRandom(seed, 1))
    const faults = await runFaults(running, random, { seconds, outageMs })
    await changes.stop()
    const ticks = await readWhenDone(database)
    const states = await database.system.$queryRaw<{ id: string; nextRunAt: number | null; now: number }[]>`
      SELECT id, extract(epoch FROM next_run_at)::float8 * 1000 AS "nextRunAt", extract(epoch FROM now())::float8 * 1000 AS now
      FROM rules WHERE trigger = 'SCHEDULE'`
    const late = states.filter(({ nextRunAt, now }) => nextRunAt !== null && now - nextRunAt > latestMs)
    return {
      ticks: ticks.length,
      missed: ticks.reduce((sum, { data }) => sum + data.missed, 0),
      changes: changes.count(),
      faults,
      violations: [
        ...checkTicks(scheduled, ticks),
        ...late.map(
          ({ id, nextRunAt, now }) => `rule ${id} has waited for its tick for ${now - (nextRunAt ?? now)} ms`,
        ),
      ],
    }
  } finally {
    await running.stop()
  }
}

type Database = RunningProduct['database']

/**
 * The ticks of the first reading in which each one is done, or those of the last reading after a minute. One statement answers both, because ticks
 * are made all the time: what a second statement reads has new ones, which nobody has run yet.
 */
async function readWhenDone(database: Database): Promise<Tick[]> {
  const endsAt = performance.now() + 60_000
  for (;;) {
    const ticks = await readTicks(database).catch((error) => error as Error)
    const isLast = performance.now() > endsAt
    if (ticks instanceof Error) {
      if (isLast) throw ticks
    } else if (isLast || ticks.every(({ isDone }) => isDone)) return ticks
    await delay(20)
  }
}

function readTicks(database: Database): Promise<(Tick & { isDone: boolean })[]> {
  return database.system.$queryRaw`
    SELECT events.id, events.addressee_id AS "ruleId", data, extract(epoch FROM accepted_at)::float8 * 1000 AS "acceptedAt",
           done_at IS NOT NULL AS "isDone", count(DISTINCT executions.id)::int AS executions, count(tasks.id)::int AS tasks
    FROM events
    LEFT JOIN executions ON executions.event_id = events.id
    LEFT JOIN tasks ON tasks.execution_id = executions.id
    WHERE type = 'SCHEDULE' GROUP BY events.id
    ORDER BY events.addressee_id, events.data ->> 'scheduledAt'`
}
