import { type Administrator, changeWorkspace, Refused } from '@automation/access'
import type { BacktestReport, BacktestSubject } from '@automation/backtest'
import { isUuid, newId, Prisma, postgresNow, timeOf, type WorkspaceDatabase } from '@automation/database'
import type { BacktestPace, ListedBacktest, StoredBacktest } from './backtest-schemas.js'
import { readEarlierRules } from './read-earlier-rules.js'
import { readGroupMembers } from './read-group-members.js'

/** Of one workspace, waiting and running. */
export const maxUnfinishedBacktests = 5
/** Ended ones that a workspace keeps; a report takes at most 64 KiB. */
const maxEnded = 1_000

interface NewBacktest {
  subject: Omit<BacktestSubject, 'earlier' | 'members'>
  /** Epoch ms; null: all events are kept. */
  historyFrom: number | null
  pace: BacktestPace
}

/** @throws Refused where the workspace has too many backtests */
export async function createBacktest(
  administrator: Administrator,
  { subject: tested, historyFrom, pace }: NewBacktest,
): Promise<StoredBacktest> {
  const { database, workspaceId, actor } = administrator
  const reads = database.readsOf(workspaceId)
  await refuseTooMany(reads)
  const earlier = await readEarlierRules(reads, workspaceId, tested)
  const members = await readGroupMembers(reads, workspaceId, tested)
  const subject: BacktestSubject = { ...tested, earlier, ...(members && { members }) }
  return changeWorkspace(administrator, async (transaction) => {
    await refuseTooMany(transaction)
    await removeOldest(transaction)
    const row = await transaction.backtest.create({
      data: {
        id: newId(),
        workspaceId,
        ruleId: subject.ruleId ?? null,
        subject: subject as unknown as Prisma.InputJsonObject,
        rangeFrom: new Date(subject.from),
        rangeTo: new Date(subject.to),
        historyFrom: historyFrom === null ? null : new Date(historyFrom),
        pace,
        createdBy: actor,
      },
      select: { ...listed, report: true },
    })
    return { result: presentBacktest(row), entry: undefined }
  })
}

async function refuseTooMany({ backtest }: Pick<WorkspaceDatabase, 'backtest'>): Promise<void> {
  if ((await backtest.count({ where: { ...created, ...unfinished } })) >= maxUnfinishedBacktests)
    throw new Refused('limit_reached', `A workspace may have ${maxUnfinishedBacktests} unfinished backtests`)
}

/** Ended backtests beyond the newest 1,000 go when another one is created. */
async function removeOldest({ backtest }: Pick<WorkspaceDatabase, 'backtest'>): Promise<void> {
  const where = { ...created, NOT: unfinished }
  const beyond = await backtest.findMany({
    where,
    orderBy: { id: 'desc' },
    skip: maxEnded,
    select: { id: true },
  })
  if (beyond.length > 0) await backtest.deleteMany({ where: { id: { in: beyond.map(({ id }) => id) } } })
}

/** @returns null where the workspace has no such backtest */
export async function findBacktest(
  { backtest }: Pick<WorkspaceDatabase, 'backtest'>,
  id: string,
): Promise<StoredBacktest | null> {
  const row = isUuid(id)
    ? await backtest.findUnique({ where: { id, ...created }, select: { ...listed, report: true } })
    : null
  return row && presentBacktest(row)
}

/** Whether it waits or runs, without its report: for those that ask often. */
export async function isBacktestUnfinished(
  { backtest }: Pick<WorkspaceDatabase, 'backtest'>,
  id: string,
): Promise<boolean> {
  return (await backtest.findFirst({ where: { id, ...unfinished }, select: { id: true } })) !== null
}

/** Lists the newest first, from below a cursor on. */
export async function listBacktests(
  { backtest }: Pick<WorkspaceDatabase, 'backtest'>,
  page: { where: { id?: { lt: string } }; orderBy: { id: 'desc' }; take?: number },
): Promise<ListedBacktest[]> {
  const rows = await backtest.findMany({ ...page, where: { ...page.where, ...created }, select: listed })
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
    where: { id, ...created, ...unfinished },
    data: cancelled(),
  })
  if (count === 1) return 'running'
  const found = await database.backtest.findUnique({ where: { id, ...created }, select: { status: true } })
  return found?.status ?? null
}

/** The report so far stays. */
export function cancelled() {
  return {
    status: 'cancelled' as const,
    finishedAt: new Date(postgresNow()),
    state: Prisma.DbNull,
    subject: {},
    lease: null,
  }
}

/** Whether a worker still computes it, or will. */
export function isBacktestRunning({ status }: Pick<ListedBacktest, 'status'>): boolean {
  return status === 'waiting' || status === 'running'
}

/** Somebody created it. The others are differences (differences.ts). */
const created = { kind: null }
const unfinished = { status: { in: ['waiting' as const, 'running' as const] } }

/** Neither subject nor state: each of them is up to a megabyte. */
const listed = {
  id: true,
  ruleId: true,
  rangeFrom: true,
  rangeTo: true,
  pace: true,
  status: true,
  after: true,
  error: true,
  createdAt: true,
  createdBy: true,
  finishedAt: true,
} satisfies Prisma.BacktestSelect
type ListedRow = Prisma.BacktestGetPayload<{ select: typeof listed }>

function presentBacktest({ report, ...row }: ListedRow & { report: unknown }): StoredBacktest {
  return { ...list(row), report: report as BacktestReport | null }
}

function list(row: ListedRow): ListedBacktest {
  return {
    id: row.id,
    ruleId: row.ruleId,
    status: row.status,
    pace: row.pace as BacktestPace,
    from: row.rangeFrom.toISOString(),
    to: row.rangeTo.toISOString(),
    progress: progressOf(row),
    error: row.error,
    createdAt: row.createdAt.toISOString(),
    createdBy: row.createdBy,
    finishedAt: row.finishedAt?.toISOString() ?? null,
  }
}

function progressOf({ status, after, rangeFrom, rangeTo }: ListedRow): number {
  if (status === 'done') return 1
  if (after === null) return 0
  const from = rangeFrom.getTime()
  const share = (timeOf(after) - from) / Math.max(rangeTo.getTime() - from, 1)
  return Math.round(Math.min(Math.max(share, 0), 1) * 1_000) / 1_000
}
