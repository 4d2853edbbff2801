import type { CompiledCondition } from '../compiled-condition.js'
import type { ClauseTrace } from '../outcome.js'
import { ZonedTime } from '../zoned-time.js'
import { type Hours, nameDay, type ReadHours, readHours } from './hours.js'
import { clockAt, findNextInside, isInside } from './inside.js'

/** A condition on the moment of the evaluation. */
export function compileTime(hours: Hours): CompiledCondition {
  const read = readHours(hours)
  return {
    holds: (_data, { now }) => isInside(read, now),
    explain: (_data, { now }) => explain(hours, read, now),
    equalities: [],
  }
}

/** It has the form of a comparison, so that whoever shows those shows it. */
function explain(hours: Hours, read: ReadHours, now: number): ClauseTrace {
  const verdict = isInside(read, now)
  const day = nameDay(new Date(clockAt(read.zone, now)).getUTCDay())
  const trace = {
    field: 'time',
    operator: 'inside',
    expected: hours,
    actual: `${day} ${new ZonedTime(now, read.zone).toJSON()}`,
    verdict,
  }
  const next = verdict ? null : findNextInside(read, now)
  return next === null ? trace : { ...trace, distanceMs: next - now }
}
