import { setTimeout as pause } from 'node:timers/promises'
import type { Administrator } from '@automation/access'
import { formatCount } from '@automation/backtest/words'
import {
  type BacktestPace,
  cancelBacktest,
  createBacktest,
  findBacktest,
  isBacktestRunning,
  type StoredBacktest,
} from '@automation/rules'
import { CommandError } from './command-error.js'
import type { StoredReport } from './format-backtest.js'

type NewBacktest = Parameters<typeof createBacktest>[1]
export type SubjectToTest = NewBacktest['subject']
export type FinishedBacktest = StoredBacktest & { report: StoredReport }

export interface BacktestToRun {
  subject: SubjectToTest
  historyFrom: number | null
  pace: BacktestPace
}

const lookEveryMs = 200
/** A worker takes a backtest within half a second, unless it computes another one. */
const patienceMs = 10_000

/**
 * Creates a backtest, waits until a worker has computed it, and shows its progress on a terminal. Ctrl-C cancels it.
 *
 * @throws CommandError if it fails or is cancelled; Refused if the workspace has too many backtests
 */
export async function runBacktest(
  administrator: Administrator,
  toRun: BacktestToRun,
  name: string,
): Promise<FinishedBacktest> {
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  for (const signal of signals) process.once(signal, stop)
  try {
    const { id } = await createBacktest(administrator, toRun)
    return await waitForEnd(administrator, id, name, stopping.signal)
  } finally {
    for (const signal of signals) process.off(signal, stop)
  }
}

const signals = ['SIGINT', 'SIGTERM'] as const

async function waitForEnd(
  { database, workspaceId }: Administrator,
  id: string,
  name: string,
  signal: AbortSignal,
): Promise<FinishedBacktest> {
  const tables = database.forWorkspace(workspaceId)
  const progress = createProgress(name)
  try {
    for (;;) {
      if (signal.aborted) await cancelBacktest(tables, id)
      const backtest = await findBacktest(tables, id)
      if (backtest === null) throw new CommandError(`The backtest ${id} was removed.`)
      if (!isBacktestRunning(backtest)) return checkEnd(backtest)
      progress.show(backtest)
      await pause(lookEveryMs, undefined, { signal }).catch(() => {})
    }
  } finally {
    progress.end()
  }
}

function checkEnd({ report, ...backtest }: StoredBacktest): FinishedBacktest {
  const { id, status, error } = backtest
  if (status === 'cancelled') throw new CommandError(`The backtest ${id} was cancelled.`)
  if (status === 'failed' || report === null)
    throw new CommandError(`The backtest ${id} failed: ${error ?? 'it has no report'}.`)
  return { ...backtest, report }
}

/** One line on stderr, where that is a terminal. Elsewhere only the hint that no worker begins. */
function createProgress(name: string) {
  const isTerminal = process.stderr.isTTY === true
  const startedAt = performance.now()
  let isHinted = false
  const write = (line: string) => process.stderr.write(`\r\u001b[K${line}`)
  return {
    show({ status, progress, report }: StoredBacktest): void {
      if (status === 'waiting' && !isHinted && performance.now() - startedAt > patienceMs) {
        isHinted = true
        if (isTerminal) write('')
        console.error('No worker has begun the backtest yet: workers compute it. Ctrl-C cancels it.')
      }
      if (!isTerminal) return
      const percent = `${Math.floor(progress * 100)} %`.padStart(5)
      const scanned =
        report === null ? 'waiting for a worker' : `${formatCount(report.scanned)} events scanned`
      write(`${name}: ${percent}, ${scanned}`)
    },
    end(): void {
      if (isTerminal) write('')
    },
  }
}
