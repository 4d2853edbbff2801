import { type Schedule, scheduleType } from '@automation/engine'
import type { BacktestSubject, TestedDefinition } from './backtest-subject.js'

/** The schedule whose ticks are not stored: that of a draft which is new, or has another one than the rule. */
export function findOwnSchedule({ active, draft }: BacktestSubject): Schedule | undefined {
  if (draft?.trigger !== scheduleType || !draft.schedule) return undefined
  return active !== undefined && isSame(draft, active.definition) ? undefined : draft.schedule
}

/** What becomes of overdue ticks makes no other ones due. */
function isSame({ schedule: one }: TestedDefinition, { schedule: other }: TestedDefinition): boolean {
  return one?.cron === other?.cron && one?.timezone === other?.timezone && one?.every === other?.every
}
