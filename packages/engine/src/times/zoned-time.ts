/** A time that is written in a zone. It exists between two filters only: what a placeholder renders is its text. */
export class ZonedTime {
  readonly instant: number
  readonly zone: string

  /** @param instant epoch milliseconds @param zone see isZone (zone-names.ts) */
  constructor(instant: number, zone: string) {
    this.instant = instant
    this.zone = zone
  }

  /** As the zone's clock shows it: the fields of a Date in UTC. */
  get clock(): Date {
    const parts: Record<string, string> = {}
    for (const { type, value } of formatterOf(this.zone).formatToParts(this.instant)) parts[type] = value
    const clock = new Date(0)
    // The year 1 BC is the year 0.
    const year = parts.era === 'BC' ? 1 - Number(parts.year) : Number(parts.year)
    clock.setUTCFullYear(year, Number(parts.month) - 1, Number(parts.day))
    const milliseconds = ((this.instant % 1_000) + 1_000) % 1_000
    clock.setUTCHours(Number(parts.hour), Number(parts.minute), Number(parts.second), milliseconds)
    return clock
  }

  /** ISO 8601 with the zone's offset. */
  toJSON(): string {
    const clock = this.clock
    const text = clock.toISOString().slice(0, -1)
    const minutes = Math.round((clock.getTime() - this.instant) / 60_000)
    const size = Math.abs(minutes)
    const digits = (number: number) => String(number).padStart(2, '0')
    return `${text}${minutes < 0 ? '-' : '+'}${digits(Math.trunc(size / 60))}:${digits(size % 60)}`
  }
}

/** A formatter takes a fifth of a millisecond to make. As many are kept as there are zones, some 600 of 14 KB. */
const formatters = new Map<string, Intl.DateTimeFormat>()

/** @throws RangeError for what Intl does not know */
export function formatterOf(name: string): Intl.DateTimeFormat {
  const key = name.toLowerCase()
  let formatter = formatters.get(key)
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formatters.set(key, formatter)
  }
  return formatter
}
