import { alignColumns, median } from './report.js'

/** What we hold ourselves to, and what a run has given. */
export interface Aim {
  title: string
  reached: number
  atLeast?: number
  atMost?: number
  /** How many digits behind the point are told. */
  digits: number
}

export function isMet({ reached, atLeast, atMost }: Aim): boolean {
  return reached >= (atLeast ?? Number.NEGATIVE_INFINITY) && reached <= (atMost ?? Number.POSITIVE_INFINITY)
}

/** A line for each; empty without any. */
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

/** Round by round: what slows down a whole round is then in both of its figures, and leaves their ratio alone. */
export function medianRatio(ours: number[], others: number[]): number {
  return median(ours.map((figure, round) => figure / (others[round] ?? Number.NaN)))
}

function tell(value: number, digits: number): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
