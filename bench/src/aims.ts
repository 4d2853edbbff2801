import { alignColumns } from './report.js'
import { intervalOfMedian, median, rangeOf } from './statistics.js'

/** An aim, and the measured result. */
export interface Aim {
  title: string
  /** The median of the rounds. */
  reached: number
  /** Lowest and highest round. */
  low: number
  high: number
  rounds: number[]
  atLeast?: number
  atMost?: number
  /** undecided: the aim lies inside the noise, or there are fewer than five rounds. */
  verdict: 'met' | 'missed' | 'undecided'
  /** The number of decimals in the report. */
  digits: number
}

type Bounds = Pick<Aim, 'atLeast' | 'atMost'>

export function createAim(aim: Pick<Aim, 'title' | 'rounds' | 'digits'> & Bounds): Aim {
  const { rounds } = aim
  return { ...aim, reached: median(rounds), ...rangeOf(rounds), verdict: decide(rounds, aim) }
}

/** An aim about a figure without noise, such as a count that follows from seeds. */
export function createExactAim({ reached, ...aim }: Pick<Aim, 'title' | 'reached' | 'digits'> & Bounds): Aim {
  const verdict = isWithin(reached, aim) ? 'met' : 'missed'
  return { ...aim, reached, low: reached, high: reached, rounds: [reached], verdict }
}

/** An aim is decided if the whole interval that contains the median is on one side of it. */
function decide(rounds: number[], bounds: Bounds): Aim['verdict'] {
  const interval = intervalOfMedian(rounds)
  if (interval === undefined) return 'undecided'
  const [first, second] = [interval.low, interval.high].map((value) => isWithin(value, bounds))
  return first !== second ? 'undecided' : first ? 'met' : 'missed'
}

export function isWithin(value: number, { atLeast, atMost }: Bounds): boolean {
  return value >= (atLeast ?? Number.NEGATIVE_INFINITY) && value <= (atMost ?? Number.POSITIVE_INFINITY)
}

/** One line for each aim; empty without aims. */
export function formatAims(aims: Aim[]): string {
  if (aims.length === 0) return ''
  return alignColumns([aimsHead, ...aims.map(describeAim)])
}

export const aimsHead = ['aim', 'reached', 'lowest to highest round', 'wanted', 'verdict']

export function describeAim(aim: Aim): string[] {
  const { title, low, high, digits, verdict } = aim
  const range = `${formatNumber(low, digits)} to ${formatNumber(high, digits)}`
  return [title, formatReached(aim), range, formatWanted(aim), verdict]
}

export function formatReached({ reached, digits }: Aim): string {
  return formatNumber(reached, digits)
}

export function formatWanted({ atLeast, atMost, digits }: Aim): string {
  return atLeast === undefined
    ? `≤ ${formatNumber(atMost ?? Number.NaN, digits)}`
    : `≥ ${formatNumber(atLeast, digits)}`
}

/** The ratios of each round: a slow round affects both figures and not their ratio. */
export function ratiosOf(ours: number[], others: number[]): number[] {
  return ours.map((figure, round) => figure / (others[round] ?? Number.NaN))
}

function formatNumber(value: number, digits: number): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
