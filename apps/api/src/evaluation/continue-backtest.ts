import { Backtest, type BacktestReport, type BacktestSubject, type SavedBacktest } from '@automation/backtest'
import type { WorkBudget, WorkLimits } from '@automation/engine'
import type { ScannedEvent } from '@automation/ledger'
import { type Bounds, findOverrun, type Overrun, openBudget } from './bounds.js'

/** A backtest as far as it came, and what comes next. JSON: it is stored between two responses. */
export interface ToContinue {
  subject: BacktestSubject
  saved: SavedBacktest | undefined
  events: Pick<ScannedEvent, 'id' | 'type' | 'addressedTo' | 'json' | 'acceptedAt'>[]
  limits: WorkLimits
}

/** A definition does not compile any more, as when another release wrote it. */
export interface NotComparable {
  fault: string
}

/** Of the bounds; the rest is for the event that is under way then, and for the state. */
const shareOfTurn = 0.5

/**
 * Adds a slice of events to a backtest, at least one, for as long as one turn of the child process may take. An event that needs more work than a whole
 * turn has counts as one that is not evaluated.
 *
 * @returns the backtest, and how many events were used: the rest is for the next call
 */
export function continueBacktest({
  subject,
  saved,
  events,
  limits,
  bounds,
}: ToContinue & Bounds): { saved: SavedBacktest; used: number } | NotComparable | Overrun {
  const budget = openBudget({ bounds })
  const backtest = open(subject, saved, limits, budget)
  if ('fault' in backtest) return backtest
  let used = 0
  for (const { json, ...event } of events) {
    const tested = { ...event, data: JSON.parse(json), size: json.length }
    if (backtest.add(tested) === undefined) {
      // It has the whole of the next turn.
      if (used > 0) break
      // A clock is no reason: a busy machine would change the report.
      if (budget.overrun === 'ms') return { overrun: 'ms' }
      backtest.addUnevaluated(tested)
    }
    used++
    if (budget.isBeyond(shareOfTurn)) break
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
  bounds,
}: Omit<ToContinue, 'events'> & Bounds & { passed: number; isComplete: boolean }):
  | { saved: SavedBacktest; report: BacktestReport }
  | NotComparable
  | Overrun {
  const budget = openBudget({ bounds })
  const backtest = open(subject, saved, limits, budget)
  if ('fault' in backtest) return backtest
  const overrun = findOverrun(budget)
  if (overrun) return overrun
  backtest.pass(passed)
  return { saved: backtest.save(), report: backtest.report({ isComplete }) }
}

function open(
  subject: BacktestSubject,
  saved: SavedBacktest | undefined,
  limits: WorkLimits,
  budget: WorkBudget,
): Backtest | NotComparable {
  try {
    return new Backtest(subject, saved, limits, budget)
  } catch (error) {
    return { fault: `A definition does not compile: ${(error as Error).message}` }
  }
}
