import type { Administrator } from '@automation/access'
import type { BacktestReport, BacktestSubject } from '@automation/backtest'
import {
  firstIdOf,
  newId,
  Prisma,
  postgresNow,
  readClock,
  type WorkspaceDatabase,
  type WorkspaceTransaction,
  writeJson,
} from '@automation/database'
import { readHistoryFrom } from './history-from.js'
import { readEarlierRules } from './read-earlier-rules.js'
import { readGroupMembers } from './read-group-members.js'
import { cancelled, isBacktestRunning } from './stored-backtests.js'

/** A draft, or a rule in shadow mode: what would it have done since then? */
export interface Compared extends Required<Pick<BacktestSubject, 'ruleId' | 'draft'>> {
  /** Of a draft: each save has another one. */
  draftId?: string
  since: Date
  /** What a draft is compared with. */
  active?: BacktestSubject['active']
}

export interface StoredDifference {
  /** Of its backtest. */
  id: string
  isUnfinished: boolean
  /** What was stored last; null: nothing yet. */
  report: (BacktestReport & { computedAt: string }) | null
  /** Why it failed. */
  error: string | null
}

/** How long (ms) a report is new enough for everybody who asks. */
const pauseMs = 60_000
/** An id is made before its event is accepted: by the clock of a process, and perhaps by a worker that waited for Postgres. */
const idAheadMs = 600_000
/** Of a workspace. The one that was computed longest ago is removed, and begins again when somebody asks. */
const maxDifferences = 100

/**
 * Finds the report on a draft or a shadow, and lets workers continue it: a backtest of its own kind, which is in no list. It ends where its rule
 * does, but the row stays, since it says when the workspace had its last turn.
 *
 *   none ──asked──▶ waiting ──▶ running ──▶ done ──asked a minute later──▶ waiting, for the events since then
 *                                  └──▶ failed ──asked a minute later──▶ waiting, from the start
 *   any ──another draft, or none──▶ cancelled ──asked──▶ waiting, from the start
 *
 * A part is the events that were accepted in an interval, and the next part begins at its end. So each event is in one part.
 *
 * @param defaultDays RETENTION_DAYS
 * @returns undefined where it could not begin: the draft has just changed, or too many others wait
 */
export async function askForDifference(
  asker: Administrator,
  compared: Compared,
  defaultDays: number,
): Promise<StoredDifference | undefined> {
  const reads = asker.database.readsOf(asker.workspaceId)
  const known = await findRow(reads, compared)
  if (known !== null && !isDue(known)) return present(known)
  await begin(asker, compared, known, defaultDays)
  return findDifference(reads, compared)
}

export async function findDifference(
  reads: Pick<WorkspaceDatabase, 'backtest'>,
  compared: Compared,
): Promise<StoredDifference | undefined> {
  const row = await findRow(reads, compared)
  return row === null ? undefined : present(row)
}

/** Ends the differences of rules. A slice in progress stores nothing any more. */
export async function cancelDifferences(
  { backtest }: Pick<WorkspaceTransaction, 'backtest'>,
  ruleIds: string[],
): Promise<void> {
  await backtest.updateMany({
    where: { ruleId: { in: ruleIds }, kind: { not: null } },
    data: { ...cancelled(), report: Prisma.DbNull },
  })
}

const columns = {
  id: true,
  status: true,
  rangeTo: true,
  report: true,
  error: true,
  turnAt: true,
  finishedAt: true,
} satisfies Prisma.BacktestSelect
type Row = Prisma.BacktestGetPayload<{ select: typeof columns }>

function findRow({ backtest }: Pick<WorkspaceDatabase, 'backtest'>, compared: Compared): Promise<Row | null> {
  return backtest.findFirst({ where: { ruleId: compared.ruleId, kind: kindOf(compared) }, select: columns })
}

function kindOf({ draftId }: Compared): 'draft' | 'shadow' {
  return draftId === undefined ? 'shadow' : 'draft'
}

function isDue({ status, finishedAt }: Row): boolean {
  if (finishedAt === null) return false
  return status === 'cancelled' || postgresNow() - finishedAt.getTime() >= pauseMs
}

function present({ id, status, report, error, turnAt, finishedAt }: Row): StoredDifference {
  const computedAt = (finishedAt ?? turnAt ?? new Date(postgresNow())).toISOString()
  return {
    id,
    isUnfinished: isBacktestRunning({ status }),
    report: report === null ? null : { ...(report as BacktestReport), computedAt },
    error,
  }
}

/** Two who ask at a time begin it once. */
async function begin(
  { database, workspaceId, actor }: Administrator,
  compared: Compared,
  known: Row | null,
  defaultDays: number,
): Promise<void> {
  const { ruleId, since, active, draft } = compared
  const [reads, tables] = [database.readsOf(workspaceId), database.forWorkspace(workspaceId)]
  const tested = { ruleId, ...(active && { active }), draft }
  const earlier = await readEarlierRules(reads, workspaceId, tested)
  const members = await readGroupMembers(reads, workspaceId, tested)
  const now = await readClock(database)
  const historyFrom = await readHistoryFrom(reads, workspaceId, defaultDays, now)
  const continued = known?.status === 'done' ? known.rangeTo : undefined
  const from = continued ?? since
  const after = continued && firstIdOf(Math.max(0, continued.getTime() - idAheadMs))
  const to = new Date(Math.max(now, from.getTime()))
  const range = { from: since.getTime(), to: to.getTime() }
  const subject: BacktestSubject = { ...tested, earlier, ...(members && { members }), ...range }
  const begun = await tables.$executeRaw(Prisma.sql`
    WITH found AS (${lockCompared(compared, workspaceId)})
    INSERT INTO backtests
      (id, workspace_id, rule_id, kind, subject, range_from, range_to, history_from, pace, created_by)
    SELECT ${newId()}::uuid, ${workspaceId}::uuid, rule_id, ${kindOf(compared)}, ${writeJson(subject)}::json, ${from}, ${to},
           ${historyFrom === null ? null : new Date(historyFrom)}::timestamptz, 'gentle', ${actor}
    FROM found
    ON CONFLICT (rule_id, kind) DO UPDATE
    SET status = 'waiting', subject = excluded.subject, range_from = excluded.range_from, range_to = excluded.range_to,
        after = ${after ?? null}::uuid, error = NULL, finished_at = NULL, lease_until = NULL, failures = 0, delays = 0,
        long_reads = 0, report = CASE WHEN backtests.state IS NOT NULL THEN backtests.report END,
        history_from = CASE WHEN backtests.state IS NULL THEN excluded.history_from ELSE backtests.history_from END
    WHERE backtests.finished_at = ${known?.finishedAt ?? null}`)
  if (begun > 0) await removeExcess(tables, workspaceId)
}

/** The lock makes a change of the draft or the shadow wait, which cancels its difference. */
function lockCompared({ ruleId, draftId, since }: Compared, workspaceId: string): Prisma.Sql {
  return draftId === undefined
    ? Prisma.sql`SELECT id AS rule_id FROM rules
        WHERE id = ${ruleId}::uuid AND workspace_id = ${workspaceId}::uuid AND mode = 'shadow'
          AND updated_at = ${since} FOR SHARE`
    : Prisma.sql`SELECT rule_id FROM rule_drafts
        WHERE rule_id = ${ruleId}::uuid AND workspace_id = ${workspaceId}::uuid AND id = ${draftId}::uuid FOR SHARE`
}

/** What waits or runs stays, the oldest first: who asks for many at once gets one after the other. */
async function removeExcess(
  database: Pick<WorkspaceDatabase, '$executeRaw'>,
  workspaceId: string,
): Promise<void> {
  await database.$executeRaw(Prisma.sql`
    DELETE FROM backtests WHERE workspace_id = ${workspaceId}::uuid AND id IN (
      SELECT id FROM backtests WHERE workspace_id = ${workspaceId}::uuid AND kind IS NOT NULL
      ORDER BY finished_at DESC NULLS FIRST, id OFFSET ${maxDifferences}::int)`)
}
