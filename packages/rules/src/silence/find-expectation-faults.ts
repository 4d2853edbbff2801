import { capitalize, type Fault, findDurationFault, parseDuration } from '@automation/engine'

/** A worker looks every ten seconds, so less could not be kept. */
const leastMs = 60_000

/** The faults of `expectEvery`, of a request or of an item in a file. */
export function findExpectationFaults({ expectEvery }: { expectEvery?: unknown }): Fault[] {
  if (typeof expectEvery !== 'string') return []
  const ms = parseDuration(expectEvery)
  if (ms === undefined)
    return [{ field: 'expectEvery', message: capitalize(String(findDurationFault(expectEvery))) }]
  return ms < leastMs ? [{ field: 'expectEvery', message: 'Must be at least 1m' }] : []
}
