import { isUuid } from '@automation/database'
import { type Fault, parseTimestamp } from '@automation/engine'
import { type BacktestRange, type BacktestToCreate, completeRange, findOrderFaults } from '@automation/rules'
import { readQueryTime } from '../../lists/history-filter.js'

/**
 * What the schema of a backtest cannot express.
 *
 * @param now of Postgres' clock, which dates events
 */
export function findRangeFaults(body: BacktestToCreate, historyFrom: number | null, now: number): Fault[] {
  const { ruleId, definition, from, to } = body
  const faults: Fault[] = []
  if (ruleId === undefined && definition === undefined)
    faults.push({ field: 'ruleId', message: 'Required if there is no definition' })
  if (ruleId !== undefined && !isUuid(ruleId)) faults.push({ field: 'ruleId', message: 'Must be a UUID' })
  const timeFaults = Object.entries({ from, to }).flatMap(([field, text]) =>
    text === undefined || !Number.isNaN(parseTimestamp(text))
      ? []
      : [{ field, message: 'Must be an ISO 8601 date, or a time with a zone' }],
  )
  return [
    ...faults,
    ...(timeFaults.length > 0
      ? timeFaults
      : findOrderFaults(completeRange(readTimes(body), now), historyFrom, now)),
  ]
}

/** The times of a range that has no faults of form. */
export function readTimes({ from, to }: Pick<BacktestToCreate, 'from' | 'to'>): Partial<BacktestRange> {
  return {
    ...(from !== undefined && { from: readQueryTime(from).getTime() }),
    ...(to !== undefined && { to: readQueryTime(to).getTime() }),
  }
}
