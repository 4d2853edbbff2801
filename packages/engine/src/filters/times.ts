import { showText } from '../texts/show-text.js'
import { parseDuration } from '../times/duration.js'
import { findTimeFault, lastMilliseconds, readTime, timeForms } from '../times/read-time.js'
import { isZone } from '../times/zone-names.js'
import { ZonedTime } from '../times/zoned-time.js'
import {
  type Argument,
  compileOperand,
  type Filter,
  type FilterDefinition,
  type Filtering,
  isNothing,
} from './filter.js'

/** Units of work to find the clock of a zone, and to learn that a zone does not exist. */
const workPerZone = 300
const workPerUnknownZone = 1_000

export const timeFilters: readonly FilterDefinition[] = [
  {
    name: 'date',
    description:
      'A time (ISO 8601, RFC 2822, Unix seconds or milliseconds) as ISO 8601, or in a format of YYYY, MM, DD, HH, mm, ss, SSS. In UTC, unless in_zone is before it. Another value stays as it is, with a warning.',
    example: {
      template: '{{at | date:"DD.MM.YYYY HH:mm"}}',
      data: { at: '2026-03-09T23:05:07+01:00' },
      output: '09.03.2026 22:05',
    },
    compile: compileDate,
  },
  {
    name: 'add_time',
    description:
      'The time later by a duration in quotes (s, m, h, d or w, a day is 24 hours) or by that of a field; earlier with a minus. As ISO 8601. What is no time gives "".',
    example: {
      template: '{{at | add_time:"-2h"}}',
      data: { at: '2026-03-10T01:00:00Z' },
      output: '2026-03-09T23:00:00.000Z',
    },
    takesField: true,
    compile: compileAddTime,
  },
  {
    name: 'in_zone',
    description:
      'The time in a zone, whose name is in quotes or in a field: ISO 8601 with its offset, or in the format of a date after it. What is no time gives "".',
    example: {
      template: '{{at | in_zone:"Europe/Berlin" | date:"DD.MM.YYYY HH:mm"}}',
      data: { at: '2026-07-09T22:30:00Z' },
      output: '10.07.2026 00:30',
    },
    takesField: true,
    compile: compileInZone,
  },
]

function compileDate(argument: Argument | undefined): Filter | string {
  const format = argument?.text
  if (format !== undefined && !/^(?:YYYY|MM|DD|HH|mm|ss|SSS|[TZ]|[^A-Za-z])+$/.test(format))
    return 'accepts a format of YYYY, MM, DD, HH, mm, ss and SSS, such as date:YYYY-MM-DD'
  return (value, { warn, charge }) => {
    if (isNothing(value)) return value
    if (value instanceof ZonedTime) {
      charge(workPerZone)
      return format === undefined ? value : formatDate(value.clock, format)
    }
    const milliseconds = readTime(value)
    if (Number.isNaN(milliseconds)) {
      warn(`is not a date, because ${findTimeFault(value)}: date reads ${timeForms}`)
      return value
    }
    const date = new Date(milliseconds)
    return format === undefined ? date.toISOString() : formatDate(date, format)
  }
}

/** By the clock of UTC, or of the zone that the author has named: the time zone of a worker must not change the text. */
function formatDate(date: Date, format: string): string {
  const parts: Record<string, string> = {
    YYYY: String(date.getUTCFullYear()).padStart(4, '0'),
    MM: pad(date.getUTCMonth() + 1),
    DD: pad(date.getUTCDate()),
    HH: pad(date.getUTCHours()),
    mm: pad(date.getUTCMinutes()),
    ss: pad(date.getUTCSeconds()),
    SSS: pad(date.getUTCMilliseconds(), 3),
  }
  return format.replace(/YYYY|MM|DD|HH|mm|ss|SSS/g, (token) => parts[token] ?? token)
}

function pad(number: number, digits = 2): string {
  return String(number).padStart(digits, '0')
}

function compileAddTime(argument: Argument | undefined): Filter | string {
  const operand = argument && compileOperand(argument)
  const isDuration = argument !== undefined && readShift(argument.text) !== undefined
  if (operand === undefined || (operand.field === undefined && !(isDuration && argument?.isQuoted)))
    return 'needs a duration in quotes, such as add_time:"2h" or add_time:"-1d", or a field'
  if (operand.field !== undefined && isDuration)
    return `needs quotes around its duration: add_time:"${argument?.text}"`
  return (value, filtering) => {
    const instant = readMoment(value, 'add_time', filtering)
    if (instant === undefined) return value === undefined ? value : ''
    const wanted = operand.read(filtering.data)
    const shift = typeof wanted === 'string' ? readShift(wanted) : undefined
    const moved = instant + (shift ?? Number.NaN)
    if (shift === undefined) {
      const state =
        wanted === undefined ? 'missing' : `${showText(wanted)}, and no duration such as 2h or -1d`
      filtering.warn(`has no result: ${operand.field} is ${state}`)
    } else if (Math.abs(moved) > lastMilliseconds) filtering.warn('has no result: the time is out of range')
    else return value instanceof ZonedTime ? new ZonedTime(moved, value.zone) : new Date(moved).toISOString()
    return ''
  }
}

/** A duration, later or earlier, in milliseconds. */
function readShift(text: string): number | undefined {
  const duration = parseDuration(text.replace(/^[+-]/, ''))
  return duration === undefined ? undefined : text.startsWith('-') ? -duration : duration
}

function compileInZone(argument: Argument | undefined): Filter | string {
  const operand = argument && compileOperand(argument)
  if (operand === undefined || (operand.field === undefined && !isZone(argument?.text)))
    return 'needs the name of a time zone in quotes, such as in_zone:"Europe/Berlin", or a field'
  if (operand.field !== undefined && isZone(operand.field))
    return `needs quotes around its time zone: in_zone:"${operand.field}"`
  return (value, filtering) => {
    const instant = readMoment(value, 'in_zone', filtering)
    if (instant === undefined) return value === undefined ? value : ''
    const zone = operand.read(filtering.data)
    filtering.charge(workPerZone)
    if (operand.field === undefined || isZone(zone)) return new ZonedTime(instant, zone as string)
    filtering.charge(workPerUnknownZone)
    const state = zone === undefined ? 'missing' : `${showText(zone)}, and no time zone such as Europe/Berlin`
    filtering.warn(`has no result: ${operand.field} is ${state}`)
    return ''
  }
}

function readMoment(value: unknown, name: string, { warn }: Filtering): number | undefined {
  if (value === undefined) return undefined
  if (value instanceof ZonedTime) return value.instant
  const instant = readTime(value)
  if (!Number.isNaN(instant)) return instant
  warn(`is not a time, because ${findTimeFault(value)}: ${name} reads ${timeForms}`)
  return undefined
}
