import { type Fault, parseTimestamp, scheduleType } from '@automation/engine'
import type { RuleTest } from './rule-test.js'

/** Finds what the schema of a test cannot say. */
export function findTestFaults(test: Partial<RuleTest>): Fault[] {
  const faults: Fault[] = []
  if ((test.event === undefined) === (test.events === undefined))
    faults.push({ field: 'event', message: 'Either event or events is required' })
  if ((test.expect === undefined) === (test.expectOnly === undefined))
    faults.push({ field: 'expect', message: 'Either expect or expectOnly is required' })
  const events = [
    ...(test.event ? [['event', test.event] as const] : []),
    ...(Array.isArray(test.events) ? test.events.map((event, n) => [`events[${n}]`, event] as const) : []),
  ]
  for (const [field, event] of events) {
    if (event?.for !== undefined && event.type !== scheduleType)
      faults.push({ field: `${field}.for`, message: `Must be omitted unless the type is ${scheduleType}` })
    if (typeof event?.at === 'string' && Number.isNaN(parseTimestamp(event.at)))
      faults.push({
        field: `${field}.at`,
        message: 'Must be an ISO 8601 date or a date-time with its zone, such as 2026-01-31T09:00:00Z',
      })
  }
  return faults
}
