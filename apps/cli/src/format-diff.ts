import { structuredPatch } from 'diff'

/** The number of unchanged lines shown before and after each change. */
const contextLines = 3
/** A search for more edits takes several seconds. Beyond this number the texts are shown as one removed and one added block. */
const maxEdits = 2_000

/**
 * The changes from one text to another, line by line. Each line begins with its mark: `-` removed, `+` added, or a space.
 * The first line is always shown, and `…` stands for omitted lines.
 *
 * @param before ends with a line break, like `after`
 */
export function formatDiff(before: string, after: string, context = contextLines): string[] {
  const patch = structuredPatch('', '', before, after, '', '', { context, maxEditLength: maxEdits })
  if (patch === undefined) return [...markLines('-', before), ...markLines('+', after)]
  const unchanged = markLines(' ', before)
  const isFirstLineShown = patch.hunks[0]?.oldStart === 1
  const formatted = isFirstLineShown ? [] : unchanged.slice(0, 1)
  let shown = formatted.length
  for (const { oldStart, oldLines, lines } of patch.hunks) {
    if (oldStart > shown + 1) formatted.push(' …')
    formatted.push(...lines)
    shown = oldStart + oldLines - 1
  }
  return shown < unchanged.length ? [...formatted, ' …'] : formatted
}

function markLines(mark: string, text: string): string[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => mark + line)
}
