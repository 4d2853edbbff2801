import { clockSkewMs } from '../ids.js'

const dayMs = 24 * 60 * 60 * 1_000
const weekMs = 7 * dayMs
/** A Monday. Leaves are counted from there. */
const firstWeek = Date.parse('1970-01-05T00:00:00Z')
/** How many weeks a leaf has: the shortest that divides what is kept into so few leaves. */
const lengths = [1, 4, 13]
const mostKeptLeaves = 8
const longest = 52
/** Leaves end so long ahead of all ids. */
const aheadMs = 2 * weekMs
/** Of an id that is further ahead, Postgres' clock was wrong. Leaves that end after it would be of no use for years. */
const mostAheadMs = longest * weekMs
/** A leaf in the making, whose end comes nearer than this, is given up: what comes after its end would be refused. */
const leastAheadMs = weekMs

/** A part of a table, by the time (epoch ms) in its ids. The first begins at -Infinity, the last ends at Infinity. */
export interface Leaf {
  from: number
  /** Exclusive. */
  to: number
}

export interface Kept {
  /** By Postgres' clock, epoch ms. */
  now: number
  /** 0: rows are never removed. */
  days: number
}

/** How long a leaf is (ms), so that plans see few leaves. What is never removed gets one a year. */
export function lengthOf(days: number): number {
  const fits = lengths.find((weeks) => days <= mostKeptLeaves * 7 * weeks)
  return (days === 0 ? longest : (fits ?? longest)) * weekMs
}

/**
 * Says what is cut off the high edge next, so that leaves are there before their ids:
 *
 *   low │ old │ week │ present week │ two ahead │ high, which is empty
 *
 * A gap, in which nobody made leaves, becomes one leaf. With an id that is more than a year ahead in the edge, none is cut off.
 *
 * @param high the high edge @param newest the time in its highest id; undefined if it has no rows
 */
export function nextCut({ from }: Leaf, { now, days }: Kept, newest: number | undefined): Leaf | undefined {
  if (from >= now + aheadMs || (newest ?? 0) > now + mostAheadMs) return undefined
  const least = Math.max(now, newest ?? 0) + aheadMs
  const length = lengthOf(days)
  return { from, to: firstWeek + Math.ceil((least - firstWeek) / length) * length }
}

export function isTooNear(end: number, { now }: Kept): boolean {
  return end < now + leastAheadMs
}

/** Whether nothing in it is kept for its age alone. */
export function isOld({ to }: Leaf, { now, days }: Kept): boolean {
  return days !== 0 && to <= now - days * dayMs - clockSkewMs
}

/** The name of a leaf: its first day, or its first moment. */
export function leafNameOf(table: string, { from, to }: Leaf): string {
  if (from === Number.NEGATIVE_INFINITY) return `${table}_low`
  if (to === Number.POSITIVE_INFINITY) return `${table}_high`
  const moment = new Date(from).toISOString().replaceAll(/\D/g, '')
  return `${table}_${moment.replace(/0{9}$/, '')}`
}
