/** Finds the nearest of some names: at most two letters differ, upper and lower case aside. */
export function findNearest(name: string, names: Iterable<string>): string | undefined {
  let nearest: string | undefined
  let least = maxDistance + 1
  for (const other of names) {
    if (other === name) continue
    const distance = other.toLowerCase() === name.toLowerCase() ? 0 : editDistance(name, other)
    if (distance < least && distance < Math.max(name.length, other.length) / 2) {
      nearest = other
      least = distance
    }
  }
  return nearest
}

const maxDistance = 2

/** How many letters have to be changed, added or left out; more than two are not counted. */
function editDistance(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > maxDistance) return maxDistance + 1
  let row = Array.from({ length: other.length + 1 }, (_, n) => n)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const change = (row[j - 1] as number) + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    row = next
  }
  return row.at(-1) as number
}
