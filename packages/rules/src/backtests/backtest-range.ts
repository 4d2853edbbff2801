import { type Fault, parseDuration } from '@automation/engine'

/** Epoch ms; `to` is not included. */
export interface BacktestRange {
  from: number
  to: number
}

/**
 * Without a start a range has seven days, and without an end it ends now.
 *
 * @param now of Postgres' clock, which dates events
 */
export function completeRange({ from, to }: Partial<BacktestRange>, now: number): BacktestRange {
  const end = to ?? now
  return { from: from ?? end - defaultMs, to: end }
}

/** @param historyFrom the time from which on all events are kept; null: all events are kept */
export function findOrderFaults(
  { from, to }: BacktestRange,
  historyFrom: number | null,
  now: number,
): Fault[] {
  if (to > now) return [{ field: 'to', message: 'Must not be in the future: those events are not known' }]
  if (from >= to) return [{ field: 'from', message: 'Must be before `to`' }]
  if (historyFrom === null || to > historyFrom) return []
  const since = new Date(historyFrom).toISOString()
  return [{ field: 'to', message: `Must be after ${since}: older events were removed by retention` }]
}

const defaultMs = parseDuration('7d') as number
