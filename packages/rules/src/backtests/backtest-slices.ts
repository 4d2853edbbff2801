import type { BacktestReport, BacktestSubject, SavedBacktest } from '@automation/backtest'
import { type Database, newId, writeJson } from '@automation/database'
import { ownerSql } from '@automation/ledger'
import type { BacktestPace } from './backtest-schemas.js'

/** A worker that has a slice stores it long before; if it does not, another one begins the slice again. */
const leaseSeconds = 30
const maxDelaySeconds = 60

/** A backtest in the hands of one worker, for one slice. */
export interface ClaimedBacktest {
  id: string
  workspaceId: string
  subject: BacktestSubject
  /** Epoch ms: later than that of its subject where the events before are in its state. */
  rangeFrom: number
  /** Epoch ms */
  historyFrom: number | null
  /** The setting of its workspace. */
  retentionDays: number | null
  pace: BacktestPace
  state: SavedBacktest | null
  after: string | null
  failures: number
  /** Reads that took too long: the more, the smaller a slice. */
  longReads: number
  lease: string
  /** Of its rule, at present; null where there is none, or it was deleted. */
  presentVersion: number | null
}

/**
 * Claims the backtest whose turn it is, under a new lease: owners take turns by their last slice, then workspaces of an owner, and so do the backtests of one.
 * Those that have ended count, too: otherwise an owner whose backtests end in one slice would always be first. Workers skip what another one claims at the
 * same time.
 *
 * $1 lease · $2 seconds
 */
const claimNext = `
  WITH asking AS MATERIALIZED (
    SELECT DISTINCT workspace_id AS id FROM backtests
    WHERE status = ANY (ARRAY['waiting'::backtest_status, 'running'::backtest_status])
  ),
  workspace_turns AS MATERIALIZED (
    SELECT workspaces.id, ${ownerSql} AS owner,
           (SELECT max(turn_at) FROM backtests WHERE backtests.workspace_id = workspaces.id) AS turn_at
    FROM workspaces
    WHERE id IN (SELECT id FROM asking)
       OR created_by IN (SELECT created_by FROM workspaces JOIN asking USING (id))
  ),
  turns AS MATERIALIZED (
    SELECT id, turn_at, max(turn_at) OVER (PARTITION BY owner) AS owner_turn_at FROM workspace_turns
  ),
  next AS (
    SELECT backtests.id FROM backtests LEFT JOIN turns ON turns.id = backtests.workspace_id
    WHERE backtests.status = ANY (ARRAY['waiting'::backtest_status, 'running'::backtest_status])
      AND (backtests.lease_until IS NULL OR backtests.lease_until < now())
    ORDER BY owner_turn_at NULLS FIRST, turns.turn_at NULLS FIRST, backtests.turn_at NULLS FIRST, backtests.id
    LIMIT 1 FOR UPDATE OF backtests SKIP LOCKED
  )
  UPDATE backtests
  SET status = 'running', lease = $1::uuid, lease_until = now() + $2 * interval '1 second', turn_at = clock_timestamp(),
      failures = failures + (lease IS NOT NULL)::int
  FROM next
  WHERE backtests.id = next.id
  RETURNING backtests.id, workspace_id AS "workspaceId", subject, pace, state, after, failures, long_reads AS "longReads", lease,
            round(date_part('epoch', range_from) * 1000)::float8 AS "rangeFrom",
            round(date_part('epoch', history_from) * 1000)::float8 AS "historyFrom",
            (SELECT retention_days FROM workspaces WHERE workspaces.id = backtests.workspace_id) AS "retentionDays",
            (SELECT version FROM rules WHERE rules.workspace_id = backtests.workspace_id AND rules.id = backtests.rule_id)
              AS "presentVersion"`

/** @returns undefined where none waits */
export async function claimBacktest(database: Database): Promise<ClaimedBacktest | undefined> {
  const rows = await database.run<ClaimedBacktest>('claim_backtest', claimNext, [newId(), leaseSeconds])
  return rows[0]
}

/**
 * Stores a slice: state, position and report in one statement, or nothing, where the lease is lost or the backtest was cancelled. A backtest
 * that ends keeps neither state nor subject, but for the state of a difference, which may be continued.
 *
 * $1 id · $2 lease · $3 state · $4 after · $5 report · $6 whether it is done · $7 history from (epoch ms)
 */
const storeSql = `
  UPDATE backtests
  SET state = CASE WHEN $6 AND kind IS NULL THEN NULL ELSE $3::json END, subject = CASE WHEN $6 THEN '{}'::json ELSE subject END, after = coalesce($4::uuid, after), report = $5::json,
      history_from = to_timestamp($7::float8 / 1000),
      status = CASE WHEN $6 THEN 'done'::backtest_status ELSE status END,
      finished_at = CASE WHEN $6 THEN now() END, lease = NULL, lease_until = NULL, failures = 0, delays = 0,
      long_reads = greatest(long_reads - 1, 0)
  WHERE id = $1::uuid AND lease = $2::uuid AND status = 'running'
  RETURNING id`

/** @returns whether it was stored */
export async function storeSlice(
  database: Database,
  { id, lease }: ClaimedBacktest,
  slice: {
    state: SavedBacktest
    after: string | undefined
    historyFrom: number | null
    report: BacktestReport
  },
): Promise<boolean> {
  const { state, after = null, historyFrom, report } = slice
  const values = [id, lease, writeJson(state), after, writeJson(report), report.isComplete, historyFrom]
  return (await database.run('store_backtest_slice', storeSql, values)).length > 0
}

/**
 * Why a slice was not stored: a failure counts towards the end of the backtest; a long read makes the next slice smaller; a delay does neither.
 */
export type GivenBack = 'failure' | 'long read' | 'delay'

/** $1 id · $2 lease · $3 why, a GivenBack · $4 seconds at most */
const delaySql = `
  UPDATE backtests
  SET lease = NULL, lease_until = now() + least(power(2, failures + delays), $4) * interval '1 second',
      failures = failures + ($3 = 'failure')::int, delays = least(delays + ($3 <> 'failure')::int, 100),
      long_reads = least(long_reads + ($3 = 'long read')::int, 100)
  WHERE id = $1::uuid AND lease = $2::uuid`

/** Gives a slice back: after a pause that grows with each one in a row, a worker computes it again. */
export async function delayBacktest(
  database: Database,
  { id, lease }: ClaimedBacktest,
  why: GivenBack,
): Promise<void> {
  await database.run('delay_backtest', delaySql, [id, lease, why, maxDelaySeconds])
}

/** $1 id · $2 lease · $3 error · $4 report; null: the one that was stored last */
const failSql = `
  UPDATE backtests
  SET lease = NULL, lease_until = NULL, error = $3, report = coalesce($4::json, report), status = 'failed', finished_at = now(), state = NULL, subject = '{}'
  WHERE id = $1::uuid AND lease = $2::uuid`

/** Ends a backtest for good. */
export async function failBacktest(
  database: Database,
  { id, lease }: ClaimedBacktest,
  error: string,
  report?: BacktestReport,
): Promise<void> {
  const values = [id, lease, error, report === undefined ? null : writeJson(report)]
  await database.run('fail_backtest', failSql, values)
}

/** Of all workspaces. The partial index backtests_unfinished has them all. */
const countSql = `
  SELECT count(*) FILTER (WHERE status = 'waiting')::int AS waiting, count(*) FILTER (WHERE status = 'running')::int AS running
  FROM backtests WHERE status = ANY (ARRAY['waiting'::backtest_status, 'running'::backtest_status])`

/** Counts unfinished backtests. */
export async function countBacktests(database: Database): Promise<Record<'waiting' | 'running', number>> {
  const [row] = await database.run<Record<'waiting' | 'running', number>>('count_backtests', countSql, [])
  return { waiting: row?.waiting ?? 0, running: row?.running ?? 0 }
}
