/** A long text in parts that end at the end of a line, where there is one: a browser lays out only the parts that are seen. */
export function sliceText(text: string, size: number): string[] {
  const parts: string[] = []
  for (let begin = 0; begin < text.length; ) {
    let end = Math.min(begin + size, text.length)
    const line = text.lastIndexOf('\n', end)
    if (end < text.length && line > begin) end = line + 1
    parts.push(text.slice(begin, end))
    begin = end
  }
  return parts
}
