import type { Rule } from '@automation/client'

export type Schedule = NonNullable<Rule['schedule']>

/** How a schedule is told and typed. What is none of the others is a cron expression as it stands. */
export type ScheduleKind = 'hourly' | 'daily' | 'weekly' | 'monthly' | 'every' | 'cron'

export const scheduleKinds: readonly { kind: ScheduleKind; words: string; hint: string }[] = [
  { kind: 'daily', words: 'every day', hint: 'at a time of the clock' },
  { kind: 'weekly', words: 'on days of the week', hint: 'at a time of the clock' },
  { kind: 'monthly', words: 'every month', hint: 'on a day, at a time of the clock' },
  { kind: 'hourly', words: 'every hour', hint: 'at a minute' },
  { kind: 'every', words: 'at an interval', hint: 'such as every 15 minutes' },
  { kind: 'cron', words: 'by a cron expression', hint: 'minute, hour, day, month, day of the week' },
]

export const dayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
/** As a week is read. */
export const weekOrder = [1, 2, 3, 4, 5, 6, 0] as const
const workdays = [1, 2, 3, 4, 5]

/** The parts of a schedule that have chips of their own. */
export interface Told {
  kind: ScheduleKind
  /** `09:00`; of an hourly one only its minute counts. */
  time: string
  /** Of the week, 0 is Sunday. */
  days: readonly number[]
  /** Of the month. */
  date: number
}

const usual: Told = { kind: 'daily', time: '09:00', days: workdays, date: 1 }

export function readSchedule({ cron, every }: Schedule): Told {
  if (cron === undefined) return { ...usual, kind: every === undefined ? 'cron' : 'every' }
  const [minute = '', hour = '', date = '', month, week = '', ...others] = cron.trim().split(/\s+/)
  const days = readDays(week)
  const isPlain = isNumber(minute, 59) && month === '*' && others.length === 0
  const time = `${pad(isNumber(hour, 23) ? hour : '9')}:${pad(minute)}`
  if (isPlain && hour === '*' && date === '*' && week === '*') return { ...usual, kind: 'hourly', time }
  if (!isPlain || !isNumber(hour, 23)) return { ...usual, kind: 'cron' }
  if (date === '*' && week === '*') return { ...usual, kind: 'daily', time }
  if (date === '*' && days !== undefined) return { ...usual, kind: 'weekly', time, days }
  if (isNumber(date, 31) && date !== '0' && week === '*')
    return { ...usual, kind: 'monthly', time, date: Number(date) }
  return { ...usual, kind: 'cron' }
}

/** @returns what these parts are as a cron expression */
export function writeCron({ kind, time, days, date }: Told): string {
  const [hour = 0, minute = 0] = time.split(':').map(Number)
  if (kind === 'hourly') return `${minute} * * * *`
  if (kind === 'weekly') return `${minute} ${hour} * * ${writeDays(days)}`
  return `${minute} ${hour} ${kind === 'monthly' ? date : '*'} * *`
}

/** The schedule as one of another kind: what they share stays. @param zone for one that has none */
export function changeScheduleKind(schedule: Schedule, kind: ScheduleKind, zone: string): Schedule {
  const { every, cron, timezone = zone, ...others } = schedule
  if (kind === 'every') return { every: every ?? '15m', ...others }
  if (kind === 'cron') return { cron: cron ?? '0 9 * * 1-5', timezone, ...others }
  return { cron: writeCron({ ...readSchedule(schedule), kind }), timezone, ...others }
}

export function beginSchedule(zone: string): Schedule {
  return { cron: writeCron({ ...usual, kind: 'weekly' }), timezone: zone }
}

/** `every weekday at 09:00, Europe/Berlin`. */
export function describeSchedule(schedule: Schedule): string {
  const { cron, every, timezone, catchUp } = schedule
  const { kind, time, days, date } = readSchedule(schedule)
  const words = {
    hourly: () => `every hour at minute ${Number(time.slice(3))}`,
    daily: () => `every day at ${time}`,
    weekly: () => `${describeDays(days)} at ${time}`,
    monthly: () => `every month on day ${date} at ${time}`,
    every: () => `every ${every}`,
    cron: () => `by cron ${cron ?? ''}`.trimEnd(),
  }[kind]()
  const zone = timezone === undefined ? '' : `, ${timezone}`
  return `${words}${zone}${catchUp === 'none' ? ', not after an outage' : ''}`
}

/** `every weekday`, `every Monday and Thursday`. */
export function describeDays(days: readonly number[]): string {
  if (isSameSet(days, workdays)) return 'every weekday'
  if (days.length === dayNames.length) return 'every day'
  const names = weekOrder.filter((day) => days.includes(day)).map((day) => dayNames[day])
  return `every ${[names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(' and ')}`
}

/** `1-5` for a row of days, otherwise each by itself. */
function writeDays(days: readonly number[]): string {
  const sorted = days.toSorted((one, other) => one - other)
  const [first = 0] = sorted
  const isRow = sorted.length > 2 && sorted.every((day, index) => day === first + index)
  return isRow ? `${first}-${sorted.at(-1)}` : sorted.join(',')
}

/** @returns undefined where the days are not numbers */
function readDays(text: string): number[] | undefined {
  const days = text.split(',').flatMap((part) => {
    const [, first, last = first] = /^([0-7])(?:-([0-7]))?$/.exec(part) ?? []
    if (first === undefined || Number(last) < Number(first)) return [Number.NaN]
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => (Number(first) + index) % 7)
  })
  return days.some(Number.isNaN) ? undefined : [...new Set(days)]
}

function isNumber(text: string, most: number): boolean {
  return /^\d{1,2}$/.test(text) && Number(text) <= most
}

function pad(text: string): string {
  return text.padStart(2, '0')
}

function isSameSet(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((day) => other.includes(day))
}
