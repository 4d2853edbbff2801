import { type RecentSpan, readSpan, spans } from './filters.js'

/** A time as an address has it: a span that ends now, or from one moment to another one. */
export interface ShownTime {
  [name: string]: string | undefined
  last?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

/** The time that a list and the chart above it show. epoch ms */
export interface ShownRange {
  from: number
  /** undefined: until now. */
  to: number | undefined
  slices: number
  /** What the chart counts: at most 31 days of it, its end in whole slices. */
  counted: { from: number; to: number }
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** The API counts no longer range. */
const longestMs = 31 * dayMs
const mostSlices = 60
const niceMs = [1_000, 5_000, 15_000, minuteMs, 2 * minuteMs, 5 * minuteMs, 10 * minuteMs, 30 * minuteMs]
  .concat([1, 2, 3, 6, 12].map((hours) => hours * hourMs))
  .concat(dayMs)

/**
 * The range that the address names: `last=24h`, or `from` and `to`. A span begins with a whole slice, so that bars begin at whole minutes and
 * hours. A `to` without a `from` ends a span.
 */
export function readShownRange(
  { last, from, to }: { last?: string | undefined; from?: string | undefined; to?: string | undefined },
  usual: RecentSpan,
  now: number,
): ShownRange {
  const { ms, slices } = spans[readSpan(last, usual)]
  const sliceMs = ms / slices
  const [begins, ends] = [readTime(from), readTime(to)]
  if (begins === undefined && ends === undefined) {
    const start = Math.floor((now - ms) / sliceMs) * sliceMs
    const end = start + (slices + 1) * sliceMs
    return { from: start, to: undefined, slices: slices + 1, counted: { from: start, to: end } }
  }
  const end = ends ?? now
  const start = Math.min(begins ?? end - ms, end - 1)
  const counted = { from: Math.max(start, end - longestMs), to: end }
  return { from: start, to: ends, slices: countSlices(counted.to - counted.from), counted }
}

/** The range as the lists of the API take it. */
export function writeRange(query: Parameters<typeof readShownRange>[0]): { from: string; to?: string } {
  const { from, to } = readShownRange(query, '24h', Date.now())
  return {
    from: new Date(from).toISOString(),
    ...(to !== undefined && { to: new Date(to).toISOString() }),
  }
}

function readTime(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? '')
  return Number.isNaN(ms) ? undefined : ms
}

/** As many as make each slice a whole number of minutes or hours; 48 if none do. */
function countSlices(ms: number): number {
  const nice = niceMs.find((size) => ms / size <= mostSlices && ms % size === 0)
  return nice === undefined ? Math.min(48, Math.max(1, Math.floor(ms))) : ms / nice
}

/** The from and to of some slices next to each other, as an address has them. */
export function rangeOfSlices(
  { counted: { from, to }, slices }: Pick<ShownRange, 'counted' | 'slices'>,
  first: number,
  last: number,
): { from: string; to: string } {
  const sliceMs = (to - from) / slices
  const iso = (index: number) => new Date(Math.round(from + index * sliceMs)).toISOString()
  return { from: iso(Math.min(first, last)), to: iso(Math.max(first, last) + 1) }
}
