import { alignColumns, median } from './report.js'

/** An aim, and the measured result. */
export interface Aim {
  title: string
  reached: number
  atLeast?: number
  atMost?: number
  /** The number of decimals in the report. */
  digits: number
}

export function isMet({ reached, atLeast, atMost }: Aim): boolean {
  return reached >= (atLeast ?? Number.NEGATIVE_INFINITY) && reached <= (atMost ?? Number.POSITIVE_INFINITY)
}

/** One line for each aim; empty without aims. */
export function formatAims(aims: Aim[]): string {
  if (aims.length === 0) return ''
  const rows = aims.map((aim) => [aim.title, tellReached(aim), tellWanted(aim), isMet(aim) ? 'yes' : 'NO'])
  return alignColumns([['aim', 'reached', 'wanted', 'met'], ...rows])
}

export function tellReached({ reached, digits }: Aim): string {
  return tell(reached, digits)
}

export function tellWanted({ atLeast, atMost, digits }: Aim): string {
  return atLeast === undefined ? `≤ ${tell(atMost ?? Number.NaN, digits)}` : `≥ ${tell(atLeast, digits)}`
}

/** The median of the ratios of each round: what slows down a whole round affects both figures and not their ratio. */
export function medianRatio(ours: number[], others: number[]): number {
  return median(ours.map((figure, round) => figure / (others[round] ?? Number.NaN)))
}

function tell(value: number, digits: number): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
