import { firstMilliseconds, readTime, toNumber } from '@automation/engine'
import type { Atom } from './atoms.js'
import { collectConstants, hasNoConstant, isRelative } from './constants.js'
import { groupPaths } from './families.js'

/** Moments that stand for all moments of evaluation. */
export interface Moments {
  /** From now on. */
  readonly future: readonly number[]
  /** Before now, the latest first. None where a rule is not compared with a date. */
  readonly past: readonly number[]
  /** Whether there are too many to look at each. */
  readonly isCapped: boolean
}

const maxMoments = 40
/** The instants at which numbers begin and end to be times. */
const edges = [firstMilliseconds, firstMilliseconds * 1_000].flatMap((edge) => [-edge, edge])
const farMs = 400 * 86_400_000

/**
 * What holds relative to the moment of evaluation holds at each moment alike, unless the same path is compared with a date or a number,
 * too: then a verdict can change where one of these passes one end of a relative span.
 */
export function listMoments(atoms: readonly Atom[], now: number): Moments {
  const turns = new Set<number>()
  for (const family of groupPaths(atoms)) {
    const relative = family.atoms.filter(isRelative)
    const absolute = family.atoms.filter((atom) => !isRelative(atom) && !hasNoConstant(atom))
    if (relative.length === 0 || absolute.length === 0) continue
    const { numbers, instants, texts, hasNumeric } = collectConstants(absolute, 0)
    const spans = collectConstants(relative, 0).instants
    // A text may be a time, or equal to a number that is one.
    const times = [...numbers, ...texts, ...[...texts].map(toNumber)].map(readTime)
    for (const constant of [...instants, ...times, ...(hasNumeric ? edges : [])])
      for (const span of spans) {
        // With more of them, none is looked at.
        if (turns.size > maxMoments + 1) break
        turns.add(constant - span)
      }
  }
  turns.delete(Number.NaN)
  if (turns.size === 0) return { future: [now], past: [], isCapped: false }
  const isCapped = turns.size > maxMoments
  const near = isCapped
    ? []
    : [...turns].flatMap((turn) =>
        [-2, -1, 0, 1, 2].map((distance) => (distance < 0 ? Math.floor(turn) : Math.ceil(turn)) + distance),
      )
  const last = Math.max(now, ...near) + farMs
  const first = Math.min(now, ...near) - farMs
  const moments = [...new Set([now, ...near, first, last])]
    .filter((moment) => Math.abs(moment) <= 8.64e15)
    .sort((one, other) => one - other)
  return {
    future: moments.filter((moment) => moment >= now),
    past: moments.filter((moment) => moment < now).reverse(),
    isCapped,
  }
}
