import { readIsoText } from './iso-text.js'

const plain = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/

/**
 * Reads what an author writes in a rule or a request: an ISO 8601 date (midnight UTC), or a date-time with its zone. The data of events
 * has times in more forms: readTime.
 *
 * @returns epoch milliseconds, or NaN for anything else: a date-time without a zone is no instant, and 30 February is no day
 */
export function parseTimestamp(value: unknown): number {
  return typeof value === 'string' && plain.test(value) ? readIsoText(value) : Number.NaN
}
