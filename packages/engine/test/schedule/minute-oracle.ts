/**
 * The ticks of cron expressions as the documents define them, found by looking at the clock of a zone in each minute. It shares nothing with the code
 * that it judges: neither the reading of expressions, nor that of zones.
 */
export class MinuteOracle {
  readonly #from: number
  /** What the clock shows in each minute, as minutes of a calendar in UTC; the first is that before `from`. */
  readonly #clocks: Int32Array

  /** @param from epoch ms of a whole minute @param minutes */
  constructor(zone: string, from: number, minutes: number) {
    this.#from = from
    const show = createClock(zone)
    this.#clocks = Int32Array.from({ length: minutes + 1 }, (_, index) => show(from + (index - 1) * 60_000))
  }

  /** The ticks (epoch ms) from the first minute to the last. */
  list(expression: string): number[] {
    const matches = readExpression(expression)
    const isDistance = /^\*|^\S+ \*/.test(expression)
    const ticks: number[] = []
    const clocks = this.#clocks
    // What the clock has shown already. Before the first minute, nobody knows of a clock that was set back: begin a day before a change.
    let latest = clocks[0] as number
    for (let index = 1; index < clocks.length; index++) {
      const clock = clocks[index] as number
      let isTick: boolean
      if (isDistance) isTick = matches(clock)
      else {
        isTick = clock > latest && matches(clock)
        for (let skipped = latest + 1; skipped < clock && !isTick; skipped++) isTick = matches(skipped)
      }
      if (isTick) ticks.push(this.#from + (index - 1) * 60_000)
      latest = Math.max(latest, clock)
    }
    return ticks
  }

  /** The minutes in which the clock was changed, as epoch ms. */
  listChanges(): number[] {
    const changes: number[] = []
    for (let index = 1; index < this.#clocks.length; index++)
      if ((this.#clocks[index] as number) - (this.#clocks[index - 1] as number) !== 1)
        changes.push(this.#from + (index - 1) * 60_000)
    return changes
  }
}

function createClock(zone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' })
  return (instant) => Date.parse(`${format.format(instant).replace(' ', 'T')}Z`) / 60_000
}

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const weekdays = 'sun mon tue wed thu fri sat'.split(' ')

/** @returns whether an expression matches a minute of a calendar in UTC */
function readExpression(expression: string): (clock: number) => boolean {
  const [minute, hour, date, month, weekday] = expression.split(' ') as [
    string,
    string,
    string,
    string,
    string,
  ]
  const minutes = readField(minute, 0, 59)
  const hours = readField(hour, 0, 23)
  const dates = readField(date.replace('L', '99'), 1, 31)
  const isLast = date.includes('L')
  const inMonths = readField(name(month, months, 1), 1, 12)
  const [ordinals, plain] = [
    weekday.split(',').filter(isOrdinal),
    weekday.split(',').filter((one) => !isOrdinal(one)),
  ]
  const days = readField(name(plain.join(), weekdays, 0), 0, 7)
  if (days.has(7)) days.add(0)
  // The flags of Vixie cron: what begins with a star is not restricted.
  const hasStar = date.startsWith('*') || weekday.startsWith('*')
  return (clock) => {
    const at = new Date(clock * 60_000)
    if (
      !minutes.has(at.getUTCMinutes()) ||
      !hours.has(at.getUTCHours()) ||
      !inMonths.has(at.getUTCMonth() + 1)
    )
      return false
    const onDate =
      dates.has(at.getUTCDate()) || (isLast && new Date(clock * 60_000 + 86_400_000).getUTCDate() === 1)
    const onWeekday =
      days.has(at.getUTCDay()) ||
      ordinals.some((one) => {
        const [day, which] = one.split('#').map(Number)
        return at.getUTCDay() === day && Math.ceil(at.getUTCDate() / 7) === which
      })
    return hasStar ? onDate && onWeekday : onDate || onWeekday
  }
}

function isOrdinal(text: string): boolean {
  return text.includes('#')
}

function name(text: string, names: string[], first: number): string {
  return text.toLowerCase().replaceAll(/[a-z]{3}/g, (found) => String(names.indexOf(found) + first))
}

function readField(text: string, lowest: number, highest: number): Set<number> {
  const values = new Set<number>()
  for (const part of text.split(',').filter((one) => one !== '')) {
    const [range = '', step = '1'] = part.split('/')
    const [from = '', to = from] = range === '*' ? [String(lowest), String(highest)] : range.split('-')
    for (let value = Number(from); value <= Number(to); value += Number(step)) values.add(value)
  }
  return values
}
