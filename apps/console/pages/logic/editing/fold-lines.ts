import type { DiffLine } from '../diff-lines.js'

/** Lines of a difference that are shown, or unchanged ones that are folded. */
export interface Fold {
  isFolded: boolean
  lines: DiffLine[]
}

/** So many unchanged lines stay around a change. */
const context = 3

/** Folds what did not change, but no single line: a line that says so would be as long. */
export function foldLines(lines: readonly DiffLine[]): Fold[] {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - context), index + context + 1).some(({ kind }) => kind !== 'same'),
  )
  const folds: Fold[] = []
  for (const [index, line] of lines.entries()) {
    const isFolded = !isNear[index]
    const last = folds.at(-1)
    if (last?.isFolded === isFolded) last.lines.push(line)
    else folds.push({ isFolded, lines: [line] })
  }
  return folds.map((fold) => ({ ...fold, isFolded: fold.isFolded && fold.lines.length > 1 }))
}
