import { clockSkewMs } from '@automation/database'
import { dayMs } from '../removal/keeping-executions.js'
import type { History } from './histories.js'

export const weekMs = 7 * dayMs
/** A Monday. Weeks and what they are merged to are counted from there. */
const firstWeek = Date.parse('1970-01-05T00:00:00Z')
/** Weeks of a merged leaf, and how many weeks history is kept at least where leaves are: it goes whole, so it stays that much longer. The longest first. */
const merged = [
  { weeks: 52, keptWeeks: 208 },
  { weeks: 13, keptWeeks: 26 },
]
/** Leaves are merged so many weeks after their end: hardly a row of them changes then. */
const restWeeks = 4

/** A part of a table, by the time (epoch ms) in its ids. The first begins at -Infinity, the last ends at Infinity. */
export interface Leaf {
  from: number
  /** Exclusive. */
  to: number
}

/** Neighbouring leaves become other ones, of the same range. */
export interface Plan extends Leaf {
  /** Where the new leaves meet. */
  bounds: number[]
  /** Whether rows that nobody keeps are left out. */
  removes: boolean
}

type Span = Pick<History, 'weeks' | 'ahead'>

export interface Kept {
  /** By Postgres' clock, epoch ms. */
  now: number
  /** Of a workspace without a setting; 0: for ever. */
  days: number
  /** Shorter in tests. */
  weekMs?: number
}

/**
 * Says which leaves are exchanged next:
 *
 *   low │ old │ old │ week │ week │ present week │ … four ahead │ high
 *   └─────────────┘                                             └────┘
 *   what is kept longer stays in the low edge                   weeks are taken from the high edge
 *
 * Rows of old weeks that somebody keeps move into the low edge, which is written again each time: so what has ended there goes, too. Where history is
 * kept for half a year or for ever, weeks become quarters of 13 weeks, and these years of 52.
 *
 * @param leaves all of a table, in order
 */
export function planExchange(leaves: readonly Leaf[], history: Span, kept: Kept): Plan | undefined {
  return makeAhead(leaves, history, kept) ?? removeOld(leaves, kept) ?? merge(leaves, kept)
}

/** A gap since the last leaf, in which no worker ran, becomes one leaf. */
function makeAhead(leaves: readonly Leaf[], history: Span, kept: Kept): Plan | undefined {
  const { from } = leaves.at(-1) as Leaf
  const spanMs = history.weeks * weekOf(kept)
  const present = firstWeek + Math.floor((kept.now - firstWeek) / spanMs) * spanMs
  const bounds = Array.from({ length: history.ahead + 2 }, (_, index) => present + index * spanMs)
  const missing = bounds.filter((bound) => bound > from)
  return missing.length === 0
    ? undefined
    : { from, to: Number.POSITIVE_INFINITY, bounds: missing, removes: false }
}

function removeOld(leaves: readonly Leaf[], { now, days }: Kept): Plan | undefined {
  if (days === 0) return undefined
  const before = now - days * dayMs - clockSkewMs
  const last = leaves.findLast(({ from, to }) => from !== Number.NEGATIVE_INFINITY && to <= before)
  return last && { from: Number.NEGATIVE_INFINITY, to: last.to, bounds: [], removes: true }
}

function merge(leaves: readonly Leaf[], kept: Kept): Plan | undefined {
  const { now, days } = kept
  for (const { weeks, keptWeeks } of merged) {
    if (days !== 0 && days * dayMs < keptWeeks * weekOf(kept)) continue
    const spanMs = weeks * weekOf(kept)
    const spanOf = (time: number) => Math.floor((time - firstWeek) / spanMs)
    const rested = now - restWeeks * weekOf(kept)
    const whole = leaves.filter(
      ({ from, to }) => spanOf(from) === spanOf(to - 1) && firstWeek + (spanOf(from) + 1) * spanMs <= rested,
    )
    for (const [index, { from }] of whole.entries()) {
      const last = whole.findLast((leaf) => spanOf(leaf.from) === spanOf(from)) as Leaf
      if (whole.indexOf(last) > index) return { from, to: last.to, bounds: [], removes: false }
    }
  }
  return undefined
}

function weekOf(kept: Kept): number {
  return kept.weekMs ?? weekMs
}

/** The leaves that a plan makes. */
export function leavesOf({ from, to, bounds }: Omit<Plan, 'removes'>): Leaf[] {
  const edges = [from, ...bounds, to]
  return edges.slice(1).map((end, index) => ({ from: edges[index] as number, to: end }))
}

/** The name of a leaf: its first day, or its first moment. */
export function leafNameOf(table: string, { from, to }: Leaf): string {
  if (from === Number.NEGATIVE_INFINITY) return `${table}_low`
  if (to === Number.POSITIVE_INFINITY) return `${table}_high`
  const moment = new Date(from).toISOString().replaceAll(/\D/g, '')
  return `${table}_${moment.replace(/0{9}$/, '')}`
}
