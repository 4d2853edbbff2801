/** The words of a text that somebody looks for, folded. */
export function readWords(text: string): string[] {
  return [...new Set(fold(text).split(/\s+/))].filter((word) => word !== '')
}

/**
 * Looks for words in the values of an event's data, without regard to case: each in any text or number.
 *
 * @param json of the data
 * @param words folded
 * @returns the data; undefined where a word is missing
 */
export function findWords(json: string, words: readonly string[]): unknown {
  // Most events have none of them, and are not parsed. Names of fields are text as well, so this only leaves out.
  const text = fold(json)
  // The letters of an escape such as \u0007 are large in it, too.
  if (!words.every((word) => text.includes(JSON.stringify(word).slice(1, -1).toUpperCase()))) return undefined
  const data: unknown = JSON.parse(json)
  const missing = new Set(words)
  strikeFound(data, missing)
  return missing.size === 0 ? data : undefined
}

function strikeFound(value: unknown, missing: Set<string>): void {
  if (missing.size === 0) return
  if (typeof value === 'string' || typeof value === 'number') {
    const text = fold(String(value))
    for (const word of missing) if (text.includes(word)) missing.delete(word)
  } else if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(value)) strikeFound(inner, missing)
}

/** Letters in either case are the same, and the I of Turkish with its dot, written as one letter or as two, is an I. */
function fold(text: string): string {
  return text.toUpperCase().replace(/\u0130|I\u0307/g, 'I')
}
