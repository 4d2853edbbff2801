import { type BacktestRange, completeRange, findOrderFaults } from '@automation/rules'
import { usageError } from './command-error.js'

/** @throws CommandError if no kept event can be in it */
export function readBacktestRange(
  { last, from, to }: Partial<BacktestRange> & { last?: number },
  historyFrom: number | null,
  now: number,
): BacktestRange {
  const end = to ?? now
  const start = last === undefined ? from : end - last
  const range = completeRange({ to: end, ...(start !== undefined && { from: start }) }, now)
  const [fault] = findOrderFaults(range, historyFrom, now)
  if (fault !== undefined) throw usageError(`--${fault.field}: ${fault.message}.`)
  return range
}
