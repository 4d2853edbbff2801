import { yieldEvery } from '@automation/admission'
import { type Database, Prisma, tickIdOf } from '@automation/database'
import { describeTick, scheduleType } from '@automation/engine'
import type { UndoneEvent } from '../unfinished/unfinished-work.js'
import { type DueSchedule, type SettledTicks, settleTicks } from './settle-ticks.js'

/** The rules of one transaction. */
const rulesAtOnce = 500
/** How long (ms) one transaction computes ticks. The next one goes on. */
const computingMs = 500
/** Others have the event loop after so many ms. */
const sliceMs = 10
const timeoutMs = 10_000

interface DueRule extends DueSchedule {
  id: string
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
  /** The rules whose schedules cannot be read any more: they have no further tick. */
  faulty: { ruleId: string; fault: string }[]
  /** More may be due. */
  isMore: boolean
}

/**
 * Makes the events of the ticks that are due, each once, whatever the number of workers: a rule is locked, its event inserted and its next tick
 * planned in one transaction. A rule that is locked by another worker, or by a change, is left for the next sweep.
 */
export function makeTicks(database: Database): Promise<MadeTicks> {
  return database.system.$transaction(
    async (transaction) => {
      const due = await transaction.$queryRaw<DueRule[]>(dueRules)
      const settled = await settleAll(due)
      const ticking = settled.flatMap(({ rule, ticks: { tick } }) => (tick ? [{ rule, tick }] : []))
      const rows = ticking.map(({ rule, tick }) => {
        const data = describeTick(rule.schedule, tick.at, tick.missed)
        return {
          id: tickIdOf(rule.id, tick.at, rule.now),
          workspace_id: rule.workspaceId,
          data,
          rule_id: rule.id,
        }
      })
      if (settled.length > 0) await transaction.$executeRaw(record(rows, settled))
      return {
        events: rows.map(({ id, rule_id: ruleId }, index) => ({
          ...(ticking[index] as { rule: DueRule }).rule,
          hasWorkspace: true,
          id,
          addressee: { kind: 'rule', id: ruleId },
          jobId: id,
        })),
        latenesses: ticking.map(({ rule, tick }) => (rule.now - tick.at) / 1_000),
        faulty: settled.flatMap(({ rule, ticks: { fault } }) =>
          fault === undefined ? [] : [{ ruleId: rule.id, fault }],
        ),
        isMore:
          due.length === rulesAtOnce ||
          settled.length < due.length ||
          settled.some(({ ticks }) => ticks.isUnfinished),
      }
    },
    { timeout: timeoutMs },
  )
}

/** Locked in the order of their ids, as by all that lock rules. */
const dueRules = Prisma.sql`
  WITH due_rules AS MATERIALIZED (
    SELECT id FROM rules WHERE next_run_at <= now() ORDER BY next_run_at LIMIT ${rulesAtOnce}
  )
  SELECT rules.id, workspace_id AS "workspaceId", created_by AS "createdBy", schedule, missed_ticks AS missed,
         round(extract(epoch FROM next_run_at) * 1000)::float8 AS "nextRunAt",
         floor(extract(epoch FROM now()) * 1000)::float8 AS now
  FROM rules JOIN workspaces ON workspaces.id = workspace_id
  WHERE rules.id IN (SELECT id FROM due_rules) AND next_run_at <= now()
  ORDER BY rules.id FOR NO KEY UPDATE OF rules SKIP LOCKED`

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

function record(rows: object[], settled: SettledRule[]): Prisma.Sql {
  const plans = settled.map(({ rule: { id }, ticks: { nextRunAt, missed } }) => {
    return { id, next_run_ms: nextRunAt, missed }
  })
  return Prisma.sql`
    WITH inserted_events AS (
      INSERT INTO events (id, workspace_id, type, data, rule_id)
      SELECT id, workspace_id, ${scheduleType}, data, rule_id
      FROM json_to_recordset(${JSON.stringify(rows)}::json) AS ticks (id uuid, workspace_id uuid, data json, rule_id uuid)
      ON CONFLICT (id) DO NOTHING
    )
    UPDATE rules SET next_run_at = to_timestamp(plans.next_run_ms / 1000), missed_ticks = plans.missed
    FROM json_to_recordset(${JSON.stringify(plans)}::json) AS plans (id uuid, next_run_ms float8, missed int)
    WHERE rules.id = plans.id`
}
