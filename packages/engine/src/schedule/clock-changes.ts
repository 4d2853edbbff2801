import { LRUCache } from 'lru-cache'
import { ZonedTime } from '../times/zoned-time.js'

/** A moment at which the clocks of a zone are changed. Offsets are ms ahead of UTC. */
export interface ClockChange {
  /** Epoch ms. */
  at: number
  before: number
  after: number
}

const dayMs = 86_400_000
const secondMs = 1_000
/** By zone and year. To find those of one takes some ms. */
const known = new LRUCache<string, readonly ClockChange[]>({ max: 2_000 })

/** How far the clocks of a zone are ahead of UTC (ms). */
export function offsetAt(zone: string, instant: number): number {
  return new ZonedTime(instant, zone).clock.getTime() - instant
}

/** The first change of a zone's clocks after a moment, and not after `until`. */
export function findChange(zone: string, after: number, until: number): ClockChange | undefined {
  const lastYear = new Date(until).getUTCFullYear()
  for (let year = new Date(after).getUTCFullYear(); year <= lastYear; year++) {
    const found = changesOf(zone, year).find(({ at }) => at > after)
    if (found !== undefined) return found.at <= until ? found : undefined
  }
  return undefined
}

/** The moment at which a clock shows a time: the first of two, and the end of the gap where it shows it never. */
export function instantOf(clock: number, zone: string): number {
  const change = findChange(zone, clock - dayMs, clock + dayMs)
  if (change === undefined) return clock - offsetAt(zone, clock)
  if (clock - change.before < change.at) return clock - change.before
  return Math.max(clock - change.after, change.at)
}

/** No zone changes its clocks twice within a day. */
function changesOf(zone: string, year: number): readonly ClockChange[] {
  const key = `${zone} ${year}`
  const found = known.get(key)
  if (found !== undefined) return found
  const changes: ClockChange[] = []
  const end = Date.UTC(year + 1, 0)
  let before = offsetAt(zone, Date.UTC(year, 0) - 1)
  for (let day = Date.UTC(year, 0); day < end; day += dayMs) {
    const after = offsetAt(zone, day + dayMs - 1)
    if (after !== before) changes.push({ at: locate(zone, day - 1, day + dayMs - 1, before), before, after })
    before = after
  }
  known.set(key, changes)
  return changes
}

/** The first second after `low` with another offset than `before`. */
function locate(zone: string, low: number, high: number, before: number): number {
  let [from, to] = [Math.floor(low / secondMs), Math.ceil(high / secondMs)]
  while (to - from > 1) {
    const middle = Math.floor((from + to) / 2)
    if (offsetAt(zone, middle * secondMs) === before) from = middle
    else to = middle
  }
  return to * secondMs
}
