import { yieldEvery } from '@automation/admission'
import { type Database, tickIdOf, writeJson } from '@automation/database'
import { describeTick, scheduleType } from '@automation/engine'
import { inTurns } from '../turns/in-turns.js'
import { noteSweep } from '../turns/note-sweep.js'
import type { UndoneEvent } from '../unfinished/unfinished-work.js'
import { type DueSchedule, type SettledTicks, settleTicks } from './settle-ticks.js'

/** The rules of one statement. */
const rulesAtOnce = 500
/** How long (ms) the ticks of one statement are computed. The next one goes on. */
const computingMs = 500
/** Others have the event loop after so many ms. */
const sliceMs = 10

interface DueRule extends DueSchedule {
  id: string
  version: number
  workspaceId: string
  createdBy: string | null
  /** Of Postgres, as epoch ms. */
  now: number
}

interface SettledRule {
  rule: DueRule
  ticks: SettledTicks
}

export interface MadeTicks {
  events: UndoneEvent[]
  /** How late each of them was made (s). */
  latenesses: number[]
  /** The rules whose schedules this process cannot read: their ticks stay due. */
  faulty: { ruleId: string; fault: string }[]
  /** More may be due. */
  isMore: boolean
}

/**
 * Makes the events of the ticks that are due, each once, whatever the number of workers: ticks are computed without a lock, and one statement inserts
 * the event of a rule and plans its next tick, if the rule is still as it was read. One that another worker, or a change, has locked is left for the
 * next call.
 *
 * @param skipped rules that this process cannot read
 */
export async function makeTicks(
  database: Pick<Database, 'run'>,
  skipped: readonly string[] = [],
): Promise<MadeTicks> {
  const due = await database.run<DueRule>('find_due_schedules', findDue, [skipped, rulesAtOnce])
  const settled = await settleAll(due)
  const isMore =
    due.length === rulesAtOnce ||
    settled.length < due.length ||
    settled.some(({ ticks }) => ticks.isUnfinished)
  // What is left may be late, and not because nobody swept.
  if (isMore) await noteSweep(database, 'ticks')
  const readable = settled.filter(({ ticks: { fault } }) => fault === undefined)
  const rows = readable.map(rowOf)
  const made = new Set<string>()
  if (rows.length > 0)
    for (const { id } of await database.run<{ id: string }>('make_ticks', makeTicksSql, [
      writeJson(rows),
      scheduleType,
    ]))
      made.add(id)
  const ticking = readable.flatMap(({ rule, ticks: { tick } }, index) => {
    const id = rows[index]?.event_id
    return tick && id && made.has(rule.id) ? [{ id, rule, at: tick.at }] : []
  })
  return {
    events: ticking.map(({ id, rule }) => {
      return {
        ...rule,
        isSuspended: false,
        id,
        addressee: { kind: 'tick', id: rule.id },
        jobId: id,
      }
    }),
    latenesses: ticking.map(({ rule, at }) => (rule.now - at) / 1_000),
    faulty: settled.flatMap(({ rule, ticks: { fault } }) =>
      fault === undefined ? [] : [{ ruleId: rule.id, fault }],
    ),
    isMore,
  }
}

/** $1 rules to skip · $2 how many */
const findDue = `
  WITH ${inTurns({
    table: 'rules',
    key: 'id',
    order: 'next_run_at',
    ...{ from: `'-infinity'`, to: 'now()' },
    where: 'next_run_at IS NOT NULL AND rules.id <> ALL ($1::uuid[])',
    limit: '$2::int',
  })}
  SELECT rules.id, version, workspace_id AS "workspaceId", created_by AS "createdBy", schedule, missed_ticks AS missed,
         round(extract(epoch FROM next_run_at) * 1000)::float8 AS "nextRunAt",
         floor(extract(epoch FROM now()) * 1000)::float8 AS now,
         round(extract(epoch FROM sweeps.since) * 1000)::float8 AS "sweptSince", round(extract(epoch FROM sweeps.at) * 1000)::float8 AS "sweptAt"
  FROM rules JOIN workspaces ON workspaces.id = workspace_id LEFT JOIN sweeps ON sweeps.name = 'ticks'
  WHERE rules.id = ANY (ARRAY(SELECT id FROM due_rows)) AND next_run_at IS NOT NULL AND closed_at IS NULL`

async function settleAll(due: DueRule[]): Promise<SettledRule[]> {
  const endsAt = performance.now() + computingMs
  const settled: SettledRule[] = []
  for (const rule of due) {
    settled.push({ rule, ticks: settleTicks(rule, rule.now) })
    await yieldEvery(sliceMs)
    if (performance.now() > endsAt) break
  }
  return settled
}

function rowOf({ rule, ticks: { tick, nextRunAt, missed } }: SettledRule) {
  const { id, version, workspaceId, schedule, nextRunAt: dueAt, now } = rule
  return {
    id,
    version,
    workspace_id: workspaceId,
    due_ms: dueAt,
    next_run_ms: nextRunAt,
    missed,
    ...(tick && {
      event_id: tickIdOf(id, tick.at, now),
      data: describeTick(schedule, tick.at, tick.missed),
    }),
  }
}

/**
 * Rules are locked in the order of their ids, as by all that lock them.
 *
 * $1 rules with what was read and what follows · $2 type of the events
 */
const makeTicksSql = `
  WITH input_rules AS (
    SELECT * FROM json_to_recordset($1::json) AS input_rules (
      id uuid, version int, workspace_id uuid, due_ms float8, next_run_ms float8, missed int, event_id uuid, data json)
  ),
  locked_rules AS MATERIALIZED (
    SELECT rules.id FROM rules JOIN input_rules USING (id)
    WHERE rules.id = ANY (ARRAY(SELECT id FROM input_rules)) AND rules.version = input_rules.version
      AND round(extract(epoch FROM rules.next_run_at) * 1000) = input_rules.due_ms
    ORDER BY rules.id FOR NO KEY UPDATE OF rules SKIP LOCKED
  ),
  inserted_events AS (
    INSERT INTO events (id, workspace_id, type, data, addressee_kind, addressee_id)
    SELECT event_id, workspace_id, $2, data, 'tick', id
    FROM input_rules JOIN locked_rules USING (id) WHERE event_id IS NOT NULL
    ON CONFLICT (id) DO NOTHING
  )
  UPDATE rules SET next_run_at = to_timestamp(input_rules.next_run_ms / 1000), missed_ticks = input_rules.missed
  FROM input_rules JOIN locked_rules USING (id)
  WHERE rules.id = input_rules.id AND rules.id = ANY (ARRAY(SELECT id FROM locked_rules))
  RETURNING rules.id`
