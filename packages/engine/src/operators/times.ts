import { Type } from 'typebox'
import { findDurationFault, parseDuration } from '../times/duration.js'
import { describeTime, findTimeFault, readTime, timeForms } from '../times/read-time.js'
import { parseTimestamp } from '../times/timestamp.js'
import { define, type Operator } from './operator.js'

/** What a rule has for a time. */
export const instantDescription = 'ISO 8601 date (midnight UTC) or date-time with its zone'

const Instant = Type.String({
  minLength: 1,
  maxLength: 40,
  title: 'Time',
  description: instantDescription,
})
const Duration = Type.String({
  minLength: 1,
  maxLength: 20,
  title: 'Duration',
  description: 'Duration: an integer with s, m, h, d or w',
})

export const before = compareTime(
  {
    name: 'before',
    description: 'The time is earlier.',
    example: {
      value: '2026-03-10',
      holds: ['2026-03-09', '2026-03-10T00:30:00+0100', 1_767_225_600],
      fails: ['2026-03-10', '9 March 2026', 0],
    },
    value: Instant,
    findFault: findInstantFault,
  },
  readTime,
  (actual, limit) => actual < limit,
  (actual, limit) => Math.abs(actual - limit),
)

export const after = compareTime(
  {
    name: 'after',
    description: 'The time is later.',
    example: {
      value: '2026-03-10T12:00:00Z',
      holds: ['2026-03-11', 'Tue, 10 Mar 2026 14:00:00 +0100'],
      fails: ['2026-03-10', '2026-03-10T13:00:00'],
    },
    value: Instant,
    findFault: findInstantFault,
  },
  readTime,
  (actual, limit) => actual > limit,
  (actual, limit) => Math.abs(actual - limit),
)

export const withinLast = compareTime(
  {
    name: 'within_last',
    description: 'The time is at most this long ago, and not in the future.',
    example: {
      value: '24h',
      at: '2026-03-10T12:00:00.000Z',
      holds: ['2026-03-10', '2026-03-09T13:00:00Z'],
      fails: ['2026-03-09', '2026-03-10T12:00:01Z', true],
    },
    value: Duration,
    findFault: findDurationFault,
  },
  parseDuration,
  (actual, span, now) => actual >= now - span && actual <= now,
  (actual, span, now) => Math.max(now - span - actual, actual - now),
)

export const withinNext = compareTime(
  {
    name: 'within_next',
    description: 'The time is at most this far ahead, and not in the past.',
    example: {
      value: '2d',
      at: '2026-03-10T12:00:00.000Z',
      holds: ['2026-03-11', '2026-03-10T12:00:00Z'],
      fails: ['2026-03-10', '2026-03-13', 'tomorrow'],
    },
    value: Duration,
    findFault: findDurationFault,
  },
  parseDuration,
  (actual, span, now) => actual >= now && actual <= now + span,
  (actual, span, now) => Math.max(now - actual, actual - now - span),
)

/** To read a text as a time, in each of its forms. */
const unitsToReadTime = 40

type TimeOperator = Pick<Operator, 'name' | 'description' | 'example'> & {
  value: Type.TString
  findFault(text: string): string | undefined
}

/** Compares instants of the data with an instant or a span of the rule. */
function compareTime(
  operator: TimeOperator,
  parse: (text: string) => number | undefined,
  holds: (actual: number, parsed: number, now: number) => boolean,
  measure: (actual: number, parsed: number, now: number) => number,
): Operator {
  return define({
    ...operator,
    compares: ['string', 'number'],
    reads: timeForms,
    compile(text) {
      const parsed = parse(text) ?? Number.NaN
      return (actual, { now }) => holds(readTime(actual), parsed, now)
    },
    ...(parse === readTime && {
      compareTwo: (left, right, { now }) => holds(readTime(left), readTime(right), now),
    }),
    textUnits: (length) => (length > 100 ? 0 : unitsToReadTime),
    findUnread: findTimeFault,
    describeReading: describeTime,
    measure: (actual, text, now) => ({
      distanceMs: measure(readTime(actual), parse(text) ?? Number.NaN, now),
    }),
  })
}

function findInstantFault(text: string): string | undefined {
  if (!Number.isNaN(parseTimestamp(text))) return undefined
  return `must be an ISO 8601 date or a date-time with its zone, such as ${suggestInstant(text)}`
}

/** The same time as a rule takes it, if the text is one in another form. */
function suggestInstant(text: string): string {
  const instant = readTime(/^\d+(?:\.\d+)?$/.test(text) ? Number(text) : text)
  const suggestion = Number.isNaN(instant) ? '' : new Date(instant).toISOString()
  return Number.isNaN(parseTimestamp(suggestion)) ? '2026-01-31T09:00:00Z' : suggestion
}
