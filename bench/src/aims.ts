import { intervalOfMedian, median, rangeOf } from './statistics.js'
import { alignColumns, formatNumber, type Line } from './table.js'

/** A figure of the table. */
type Figure = [label: string, column: string]

interface Bounds {
  atLeast?: number
  atMost?: number
}

export interface WantedAim extends Bounds {
  title: string
  of: Figure
  /** The figure is divided by this one, round by round: a slow round affects both, and not their ratio. */
  dividedBy?: Figure
}

/** An aim, and what was reached. */
export interface Aim extends Bounds {
  title: string
  rounds: number[]
  /** undecided: the aim lies inside the noise, or there are fewer than five rounds. */
  result: 'met' | 'missed' | 'undecided'
}

/** The aims whose figures were measured. */
export function listAims(lines: Line[], wanted: WantedAim[]): Aim[] {
  const find = ([label, column]: Figure) =>
    lines.find((line) => line.label === label)?.rounds.map((figures) => figures[column] ?? Number.NaN)
  return wanted.flatMap(({ title, of, dividedBy, ...bounds }) => {
    const ours = find(of)
    const others = dividedBy && find(dividedBy)
    if (ours === undefined || (dividedBy && others === undefined)) return []
    const rounds = others ? ours.map((figure, round) => figure / (others[round] ?? Number.NaN)) : ours
    return [{ title, rounds, ...bounds, result: decide(rounds, bounds) }]
  })
}

/** An aim about a figure without noise, such as a count. */
export function createExactAim(title: string, reached: number, bounds: Bounds): Aim {
  return { title, rounds: [reached], ...bounds, result: isWithin(reached, bounds) ? 'met' : 'missed' }
}

export function formatAims(aims: Aim[]): string {
  const head = ['aim', 'reached', 'lowest to highest round', 'wanted', 'result']
  const rows = aims.map(({ title, rounds, atLeast, atMost, result }) => {
    const { low, high } = rangeOf(rounds)
    const range = `${formatNumber(low)} to ${formatNumber(high)}`
    const wanted =
      atLeast === undefined ? `≤ ${formatNumber(atMost ?? Number.NaN)}` : `≥ ${formatNumber(atLeast)}`
    return [title, formatNumber(median(rounds)), range, wanted, result]
  })
  return alignColumns([head, ...rows])
}

/** An aim is decided if the whole interval that contains the median is on one side of it. */
function decide(rounds: number[], bounds: Bounds): Aim['result'] {
  const interval = intervalOfMedian(rounds)
  if (interval === undefined) return 'undecided'
  const [first, second] = [interval.low, interval.high].map((value) => isWithin(value, bounds))
  return first !== second ? 'undecided' : first ? 'met' : 'missed'
}

function isWithin(value: number, { atLeast, atMost }: Bounds): boolean {
  return value >= (atLeast ?? Number.NEGATIVE_INFINITY) && value <= (atMost ?? Number.POSITIVE_INFINITY)
}
