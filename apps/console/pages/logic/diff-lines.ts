import { findEqual } from './editing/align-items.js'

export interface DiffLine {
  kind: 'same' | 'added' | 'removed'
  text: string
}

/** The lines that differ. Definitions have some hundred lines, so all of them are compared with each other. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [left, right] = [before.split('\n'), after.split('\n')]
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  for (const same of [...findEqual(left, right), { before: left.length, after: right.length }]) {
    for (const text of left.slice(i, same.before)) lines.push({ kind: 'removed', text })
    for (const text of right.slice(j, same.after)) lines.push({ kind: 'added', text })
    for (const text of left.slice(same.before, same.before + 1)) lines.push({ kind: 'same', text })
    ;[i, j] = [same.before + 1, same.after + 1]
  }
  return lines
}
