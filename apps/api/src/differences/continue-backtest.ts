import { Backtest, type BacktestReport, type BacktestSubject, type SavedBacktest } from '@automation/backtest'
import type { WorkLimits } from '@automation/engine'

/** A backtest as far as it came, and what comes next. JSON: it is stored between two responses. */
export interface ToContinue {
  subject: BacktestSubject
  saved: SavedBacktest | undefined
  events: { id: string; type: string; addressedTo: string | null; json: string; acceptedAt: number }[]
  limits: WorkLimits
}

/** A definition does not compile any more, as when another release wrote it. */
export interface NotComparable {
  fault: string
}

/** Other workspaces wait for the thread. */
const maxMs = 500

/**
 * Adds a slice of events to a backtest, for as long as one turn of the thread may take.
 *
 * @returns the backtest, and how many events were used: the rest is for the next call
 */
export function continueBacktest({
  subject,
  saved,
  events,
  limits,
}: ToContinue): { saved: SavedBacktest; used: number } | NotComparable {
  const backtest = open(subject, saved, limits)
  if ('fault' in backtest) return backtest
  const startedAt = performance.now()
  let used = 0
  for (const { json, ...event } of events) {
    backtest.add({ ...event, data: JSON.parse(json) })
    used++
    if (performance.now() - startedAt > maxMs) break
  }
  return { saved: backtest.save(), used }
}

/** Counts the events that were passed, and reports. */
export function reportBacktest({
  subject,
  saved,
  passed,
  isComplete,
  limits,
}: Omit<ToContinue, 'events'> & { passed: number; isComplete: boolean }):
  | { saved: SavedBacktest; report: BacktestReport }
  | NotComparable {
  const backtest = open(subject, saved, limits)
  if ('fault' in backtest) return backtest
  backtest.pass(passed)
  return { saved: backtest.save(), report: backtest.report({ isComplete }) }
}

function open(...args: ConstructorParameters<typeof Backtest>): Backtest | NotComparable {
  try {
    return new Backtest(...args)
  } catch (error) {
    return { fault: `A definition does not compile: ${(error as Error).message}` }
  }
}
