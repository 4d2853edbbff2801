import { Cron } from 'croner'
import { LRUCache } from 'lru-cache'

/** A cron expression, without a time zone: it knows times of a clock, as the ms of a Date in UTC. */
export interface CronTimes {
  /**
   * Whether the minute or the hour begins with `*`. Then the expression means a distance, and real time goes on when clocks change. All others
   * name times of the clock.
   */
  readonly isRealTime: boolean
  /** The first time of the clock after this one; null: there is none. */
  next(clock: number): number | null
}

const fields = ['minute', 'hour', 'day of the month', 'month', 'day of the week']
const nicknames: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}
/** To compile one takes 0.1 ms. */
const compiled = new LRUCache<string, CronTimes>({ max: 1_000 })

/** @param text an expression without a fault */
export function compileCron(text: string): CronTimes {
  const known = compiled.get(text)
  if (known !== undefined) return known
  const cron = parse(text)
  const [minute = '', hour = ''] = text.trim().split(/\s+/)
  const times = {
    isRealTime: minute.startsWith('*') || hour.startsWith('*'),
    next: (clock: number) => cron.nextRun(new Date(clock))?.getTime() ?? null,
  }
  compiled.set(text, times)
  return times
}

/** What is wrong with a cron expression; undefined: nothing. */
export function findCronFault(text: string): string | undefined {
  const nickname = nicknames[text.trim().toLowerCase()]
  if (nickname !== undefined) return `Must have five fields: write ${nickname}`
  const parts = text.trim().split(/\s+/)
  if (parts.length !== fields.length) {
    const others = parts.length > fields.length ? '. Seconds and years are not supported' : ''
    return `Must have five fields (${fields.join(', ')}), such as 0 9 * * 1-5${others}`
  }
  const faulty = parts.findIndex((part, index) => !isField(part, index))
  if (faulty !== -1) return `Must have a valid ${fields[faulty]}: ${parts[faulty]} is none`
  return parse(text).nextRun(new Date(0)) === null ? 'Must match a date: this day does not exist' : undefined
}

/** Only what is written the same in all crons, besides `L` for the last day and `5#2` for the second Friday. */
function isField(part: string, index: number): boolean {
  if (!/^[\dA-Za-z*,/#-]+$/.test(part) || /\dw|lw/i.test(part)) return false
  try {
    parse(fields.map((_, place) => (place === index ? part : '*')).join(' '))
    return true
  } catch {
    return false
  }
}

/** As in Vixie cron, a day has to fulfil both fields if one of them begins with `*`, also as a step. */
function parse(text: string): Cron {
  const [, , date = '', , weekday = ''] = text.trim().split(/\s+/)
  const domAndDow = date.startsWith('*') || weekday.startsWith('*')
  return new Cron(text.trim(), { mode: '5-part', utcOffset: 0, domAndDow })
}
