/** Lines of two texts: in both, only in the first, or only in the second. */
export interface DiffLine {
  mark: ' ' | '-' | '+'
  line: string
}

/** Beyond so many comparisons what differs is told as one block. */
const maxCells = 4_000_000

/** The least that has to be taken away and added to make one text of the other. */
export function diffLines(before: string[], after: string[]): DiffLine[] {
  let start = 0
  while (start < Math.min(before.length, after.length) && before[start] === after[start]) start++
  let end = 0
  while (end < Math.min(before.length, after.length) - start && before.at(-1 - end) === after.at(-1 - end))
    end++
  return [
    ...markAll(' ', before.slice(0, start)),
    ...diffMiddles(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...markAll(' ', end === 0 ? [] : before.slice(-end)),
  ]
}

/** By the longest common subsequence, which is found from the end and followed from the beginning. */
function diffMiddles(before: string[], after: string[]): DiffLine[] {
  if (before.length * after.length > maxCells) return [...markAll('-', before), ...markAll('+', after)]
  const width = after.length + 1
  const common = new Uint16Array((before.length + 1) * width)
  const at = (row: number, column: number) => common[row * width + column] ?? 0
  for (let row = before.length - 1; row >= 0; row--) {
    for (let column = after.length - 1; column >= 0; column--)
      common[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1))
  }
  const lines: DiffLine[] = []
  let [row, column] = [0, 0]
  while (row < before.length && column < after.length) {
    if (before[row] === after[column]) {
      lines.push({ mark: ' ', line: before[row++] ?? '' })
      column++
    } else if (at(row + 1, column) >= at(row, column + 1))
      lines.push({ mark: '-', line: before[row++] ?? '' })
    else lines.push({ mark: '+', line: after[column++] ?? '' })
  }
  return [...lines, ...markAll('-', before.slice(row)), ...markAll('+', after.slice(column))]
}

function markAll(mark: DiffLine['mark'], lines: string[]): DiffLine[] {
  return lines.map((line) => ({ mark, line }))
}
