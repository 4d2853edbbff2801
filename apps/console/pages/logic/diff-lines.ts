export interface DiffLine {
  kind: 'same' | 'added' | 'removed'
  text: string
}

/** The lines that differ, by the longest common subsequence. Definitions have some hundred lines, so its table is small. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [left, right] = [before.split('\n'), after.split('\n')]
  const table = lengthsOf(left, right)
  const lines: DiffLine[] = []
  let i = 0
  let j = 0
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      lines.push({ kind: 'same', text: left[i++] ?? '' })
      j++
    } else if (j >= right.length || (i < left.length && (table[i + 1]?.[j] ?? 0) >= (table[i]?.[j + 1] ?? 0)))
      lines.push({ kind: 'removed', text: left[i++] ?? '' })
    else lines.push({ kind: 'added', text: right[j++] ?? '' })
  }
  return lines
}

function lengthsOf(left: string[], right: string[]): number[][] {
  const table = Array.from({ length: left.length + 1 }, () => new Array<number>(right.length + 1).fill(0))
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--) {
      const row = table[i] as number[]
      row[j] =
        left[i] === right[j]
          ? (table[i + 1]?.[j + 1] ?? 0) + 1
          : Math.max(table[i + 1]?.[j] ?? 0, row[j + 1] ?? 0)
    }
  return table
}
