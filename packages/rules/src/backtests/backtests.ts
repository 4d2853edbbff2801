import { type Administrator, changeWorkspace, Refused } from '@automation/access'
import type { BacktestReport, BacktestSubject } from '@automation/backtest'
import { isUuid, newId, Prisma, timeOf, type WorkspaceDatabase } from '@automation/database'
import type { BacktestPace, ListedBacktest, StoredBacktest } from './backtest-schemas.js'

/** Of one workspace, waiting and running. */
export const maxUnfinishedBacktests = 5
/** Rows of 30 days are kept; a report takes at most 64 KiB. */
const maxBacktests = 1_000

interface NewBacktest {
  subject: BacktestSubject
  /** Epoch ms; null: all events are kept. */
  historyFrom: number | null
  pace: BacktestPace
}

/** @throws Refused where the workspace has too many backtests */
export function createBacktest(
  administrator: Administrator,
  { subject, historyFrom, pace }: NewBacktest,
): Promise<StoredBacktest> {
  const { workspaceId, actor } = administrator
  return changeWorkspace(administrator, async (transaction) => {
    if ((await transaction.backtest.count({ where: unfinished })) >= maxUnfinishedBacktests)
      throw new Refused('conflict', `A workspace may have ${maxUnfinishedBacktests} unfinished backtests`)
    if ((await transaction.backtest.count()) >= maxBacktests)
      throw new Refused('conflict', `A workspace may have ${maxBacktests} backtests of the last 30 days`)
    const row = await transaction.backtest.create({
      data: {
        id: newId(),
        workspaceId,
        ruleId: subject.ruleId ?? null,
        subject: subject as unknown as Prisma.InputJsonObject,
        historyFrom: historyFrom === null ? null : new Date(historyFrom),
        pace,
        createdBy: actor,
      },
    })
    return { result: present(row), entry: undefined }
  })
}

/** @returns null where the workspace has no such backtest */
export async function findBacktest(
  { backtest }: Pick<WorkspaceDatabase, 'backtest'>,
  id: string,
): Promise<StoredBacktest | null> {
  const row = isUuid(id) ? await backtest.findUnique({ where: { id }, omit: { state: true } }) : null
  return row && present(row)
}

/** Lists the newest first, from below a cursor on. */
export async function listBacktests(
  { backtest }: Pick<WorkspaceDatabase, 'backtest'>,
  page: { where: { id?: { lt: string } }; orderBy: { id: 'desc' }; take?: number },
): Promise<ListedBacktest[]> {
  const rows = await backtest.findMany({ ...page, omit: { state: true, report: true } })
  return rows.map(list)
}

/**
 * Ends an unfinished backtest: the slice that is under way stores nothing any more. One that was cancelled before stays so.
 *
 * @returns what it was before; null where the workspace has no such backtest
 */
export async function cancelBacktest(
  database: Pick<WorkspaceDatabase, 'backtest'>,
  id: string,
): Promise<ListedBacktest['status'] | null> {
  if (!isUuid(id)) return null
  const { count } = await database.backtest.updateMany({
    where: { id, ...unfinished },
    data: { status: 'cancelled', finishedAt: new Date(), state: Prisma.DbNull, lease: null },
  })
  if (count === 1) return 'running'
  return (await database.backtest.findUnique({ where: { id }, select: { status: true } }))?.status ?? null
}

/** Whether a worker still computes it, or will. */
export function isUnfinished({ status }: Pick<ListedBacktest, 'status'>): boolean {
  return status === 'waiting' || status === 'running'
}

const unfinished = { status: { in: ['waiting' as const, 'running' as const] } }

interface ListedRow {
  id: string
  ruleId: string | null
  subject: unknown
  pace: string
  status: ListedBacktest['status']
  after: string | null
  error: string | null
  createdAt: Date
  createdBy: string
  finishedAt: Date | null
}

function present({ report, ...row }: ListedRow & { report: unknown }): StoredBacktest {
  return { ...list(row), report: report as BacktestReport | null }
}

function list(row: ListedRow): ListedBacktest {
  const { from, to } = row.subject as BacktestSubject
  return {
    id: row.id,
    ruleId: row.ruleId,
    status: row.status,
    pace: row.pace as BacktestPace,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    progress: progressOf(row, from, to),
    error: row.error,
    createdAt: row.createdAt.toISOString(),
    createdBy: row.createdBy,
    finishedAt: row.finishedAt?.toISOString() ?? null,
  }
}

function progressOf({ status, after }: ListedRow, from: number, to: number): number {
  if (status === 'done') return 1
  if (after === null) return 0
  const share = (timeOf(after) - from) / Math.max(to - from, 1)
  return Math.round(Math.min(Math.max(share, 0), 1) * 1_000) / 1_000
}
