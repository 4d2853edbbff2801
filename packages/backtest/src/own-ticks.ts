import { nextTick, type Schedule, scheduleType } from '@automation/engine'
import type { BacktestSubject, TestedDefinition } from './backtest-subject.js'

/** Of one slice: to compute so many takes some seconds. */
export const maxTicks = 50_000

/** The schedule whose ticks are not stored: that of a draft which is new, or has another one than the rule. */
export function findOwnSchedule({ active, draft }: BacktestSubject): Schedule | undefined {
  if (draft?.trigger !== scheduleType || !draft.schedule) return undefined
  return active !== undefined && isSame(draft, active.definition) ? undefined : draft.schedule
}

/** The ticks of [from, to), as epoch ms. */
export function* listTicks(schedule: Schedule, from: number, to: number): Generator<number> {
  let at = nextTick(schedule, from - 1)
  for (let count = 0; at !== null && at < to && count < maxTicks; count++) {
    yield at
    at = nextTick(schedule, at)
  }
}

/** What becomes of overdue ticks makes no other ones due. */
function isSame({ schedule: one }: TestedDefinition, { schedule: other }: TestedDefinition): boolean {
  return one?.cron === other?.cron && one?.timezone === other?.timezone && one?.every === other?.every
}
