import { type Hours, nameDay, type ReadHours, readHours } from '../hours/hours.js'
import { clockAt, findNextInside, isInside } from '../hours/inside.js'
import type { ClauseTrace } from '../results/outcome.js'
import { isZone } from '../times/zone-names.js'
import { ZonedTime } from '../times/zoned-time.js'
import type { CompiledCondition } from './compiled-condition.js'

/** A condition on the moment of the evaluation. */
export function compileTime(hours: Hours): CompiledCondition {
  const read = readHours(hours)
  return {
    holds: (_data, { now }) => isInside(read, now),
    explain: (_data, { now }) => explain(hours, read, now),
    equalities: [],
  }
}

/** It has the form of a comparison, so that code that shows those shows it. */
function explain(hours: Hours, read: ReadHours, now: number): ClauseTrace {
  const verdict = isInside(read, now)
  const trace = {
    field: 'time',
    operator: 'inside',
    expected: hours,
    actual: isZone(read.zone) ? showMoment(read.zone, now) : `${read.zone}, and no time zone`,
    verdict,
  }
  const next = verdict ? null : findNextInside(read, now)
  return next === null ? trace : { ...trace, distanceMs: next - now }
}

function showMoment(zone: string, now: number): string {
  return `${nameDay(new Date(clockAt(zone, now)).getUTCDay())} ${new ZonedTime(now, zone).toJSON()}`
}
