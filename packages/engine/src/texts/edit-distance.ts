/**
 * Levenshtein's distance of two texts, in which two letters that changed places are one edit.
 *
 * @param limit returned where the distance is at least that, which is known sooner
 */
export function countEdits(one: string, other: string, limit = Number.POSITIVE_INFINITY): number {
  if (Math.abs(one.length - other.length) >= limit) return limit
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1]
      let edits = Math.min(
        (last[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (last[column - 1] as number) + (isSame ? 0 : 1),
      )
      if (row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1])
        edits = Math.min(edits, (beforeLast[column - 2] as number) + 1)
      current.push(edits)
    }
    if (Math.min(...current) >= limit) return limit
    beforeLast = last
    last = current
  }
  return Math.min(last[other.length] as number, limit)
}
