import { isUuid } from '@automation/database'
import { type Fault, parseTimestamp } from '@automation/engine'
import type { BacktestToCreate } from '@automation/rules'
import { readTime } from '../../lists/history-filter.js'

/**
 * What the schema of a backtest cannot express.
 *
 * @param now of Postgres' clock, which dates events
 */
export function findRangeFaults(
  { ruleId, definition, from, to }: BacktestToCreate,
  historyFrom: number | null,
  now: number,
): Fault[] {
  const faults: Fault[] = []
  if (ruleId === undefined && definition === undefined)
    faults.push({ field: 'ruleId', message: 'Required where there is no definition' })
  if (ruleId !== undefined && !isUuid(ruleId)) faults.push({ field: 'ruleId', message: 'Must be a UUID' })
  const timeFaults = Object.entries({ from, to }).flatMap(([field, text]) =>
    text === undefined || !Number.isNaN(parseTimestamp(text))
      ? []
      : [{ field, message: 'Must be an ISO 8601 date, or a time with a zone' }],
  )
  return [...faults, ...(timeFaults.length > 0 ? timeFaults : findOrderFaults(from, to, historyFrom, now))]
}

function findOrderFaults(
  from: string | undefined,
  to: string | undefined,
  historyFrom: number | null,
  now: number,
): Fault[] {
  const start = from === undefined ? undefined : readTime(from).getTime()
  const end = to === undefined ? now : readTime(to).getTime()
  if (end > now) return [{ field: 'to', message: 'Must not be in the future: those events are not known' }]
  if (start !== undefined && start >= end) return [{ field: 'from', message: 'Must be before `to`' }]
  if (historyFrom !== null && end <= historyFrom) {
    const since = new Date(historyFrom).toISOString()
    return [{ field: 'to', message: `Must be after ${since}: older events were removed by retention` }]
  }
  return []
}
