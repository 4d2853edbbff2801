import { firstIdOf, highestId, lowestId, lowestIdLike } from '@automation/database'

/** The id at which a leaf begins or ends. */
export function boundOf(time: number): string {
  if (time === Number.NEGATIVE_INFINITY) return lowestId
  if (time === Number.POSITIVE_INFINITY) return highestId
  return lowestIdLike(firstIdOf(time))
}
