/** Decodes the text of a response: by its byte order mark, or the charset of its content type, or as UTF-8. */
export function decode(bytes: Buffer, type: string): string {
  const start = bytes.toString('hex', 0, 3)
  const marked = byteOrderMarks.find(([mark]) => start.startsWith(mark))?.[1]
  const declared = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(type)?.[1]
  const label = marked ?? declared
  try {
    return new TextDecoder(label).decode(bytes)
  } catch {
    // The label is unknown.
    return new TextDecoder().decode(bytes)
  }
}

const byteOrderMarks = [
  ['efbbbf', 'utf-8'],
  ['fffe', 'utf-16le'],
  ['feff', 'utf-16be'],
] as const
