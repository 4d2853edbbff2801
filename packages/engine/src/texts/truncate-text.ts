let segmenter: Intl.Segmenter | undefined

/** A step of the segmenter copies the text that it is given, so it gets so many units at once. */
const windowLength = 256
/** Units of work for a step. */
const workPerStep = 30

/**
 * Cuts a text to so many characters as a reader counts them (grapheme clusters), the last of them an ellipsis if something was cut.
 * It never cuts within a character: half of a surrogate pair is a text that Postgres refuses.
 */
export function truncateText(text: string, length: number, charge: (units: number) => void): string {
  if (text.length <= length) return text
  const end = isLatin(text, length + 1) ? length - 1 : findCut(text, length, charge)
  return end === undefined ? text : `${text.slice(0, end)}…`
}

/** Whether each of the first units is a character of its own, as in nearly all texts: Latin letters without combining marks. */
function isLatin(text: string, count: number): boolean {
  for (let n = 0; n < count; n++) {
    const code = text.charCodeAt(n)
    // CR and LF together are one character.
    if (code >= 0x300 || code === 0x0d) return false
  }
  return true
}

/** The end of the last character that stays. Undefined if the text has no more than `length` characters. */
function findCut(text: string, length: number, charge: (units: number) => void): number | undefined {
  segmenter ??= new Intl.Segmenter('und', { granularity: 'grapheme' })
  let count = 0
  let end = 0
  let from = 0
  let size = windowLength
  while (from < text.length) {
    const window = text.slice(from, from + size)
    const isLast = from + size >= text.length
    const starts = Array.from(segmenter.segment(window), ({ index }) => from + index)
    charge(starts.length * workPerStep + size)
    // The last character of a window may go on behind it, so the next window begins with it.
    const complete = isLast ? starts : starts.slice(0, -1)
    for (const start of complete) {
      if (count === length - 1) end = start
      if (count === length) return end
      count++
    }
    if (isLast) return undefined
    size = complete.length === 0 ? size * 2 : windowLength
    from = starts.at(-1) as number
  }
  return undefined
}
