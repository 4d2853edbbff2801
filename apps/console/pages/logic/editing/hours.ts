import { describeDays, weekOrder } from './schedule-kinds.js'

/** Hours of the week, on the clock of a zone. */
export interface Hours {
  /** `mon-fri`, or `sat,sun`. */
  days: string
  from: string
  to: string
  timezone: string
}

const names = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

export function isHours(value: unknown): value is Hours {
  if (typeof value !== 'object' || value === null) return false
  const held = value as Record<string, unknown>
  const keys = ['days', 'from', 'to', 'timezone']
  return (
    Object.keys(held).length === keys.length &&
    keys.every((key) => typeof held[key] === 'string') &&
    readDayNames(held.days as string) !== undefined
  )
}

/** Office hours. */
export function beginHours(timezone: string): Hours {
  return { days: 'mon-fri', from: '09:00', to: '17:00', timezone }
}

/** @returns the days, 0 is Sunday; undefined where the text is none */
export function readDayNames(text: string): number[] | undefined {
  const days = new Set<number>()
  for (const part of text.split(',')) {
    const [first = -1, last = first, ...others] = part.split('-').map((name) => names.indexOf(name))
    if (first < 0 || last < 0 || others.length > 0) return undefined
    for (let day = first; ; day = (day + 1) % names.length) {
      days.add(day)
      if (day === last) break
    }
  }
  return [...days]
}

/** `mon-fri` for days that follow each other, otherwise each by itself. */
export function writeDayNames(days: readonly number[]): string {
  const sorted = weekOrder.filter((day) => days.includes(day))
  const first = weekOrder.indexOf(sorted[0] ?? 1)
  const isRow = sorted.length > 2 && sorted.every((day, index) => day === weekOrder[first + index])
  const [begin, end] = [sorted[0], sorted.at(-1)].map((day) => names[day ?? 0])
  return isRow ? `${begin}-${end}` : sorted.map((day) => names[day]).join(',')
}

/** `it is every weekday, 09:00 to 17:00, in Europe/Berlin`. */
export function describeHours({ days, from, to, timezone }: Hours): string {
  return `it is ${describeDays(readDayNames(days) ?? [])}, ${from} to ${to}, in ${timezone}`
}
