import { TextDecoder } from 'node:util'

export interface Decoded {
  text: string
  /** The charset that the bytes should have and have not, so that U+FFFD stands for some of them. */
  brokenCharset?: string
}

/** Decodes the text of a response: by its byte order mark, or the charset of its content type, or as UTF-8. */
export function decode(bytes: Buffer, type: string): Decoded {
  const start = bytes.toString('hex', 0, 3)
  const marked = byteOrderMarks.find(([mark]) => start.startsWith(mark))?.[1]
  const declared = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(type)?.[1]
  const decoder = openDecoder(marked ?? declared) ?? new TextDecoder()
  const text = decoder.decode(bytes)
  const isBroken = text.includes('\ufffd') && !isExact(decoder.encoding, bytes)
  return { text, ...(isBroken && { brokenCharset: decoder.encoding.toUpperCase() }) }
}

const byteOrderMarks = [
  ['efbbbf', 'utf-8'],
  ['fffe', 'utf-16le'],
  ['feff', 'utf-16be'],
] as const

/** @returns undefined where the label is unknown */
function openDecoder(label: string | undefined): TextDecoder | undefined {
  try {
    return new TextDecoder(label)
  } catch {
    return undefined
  }
}

/** A U+FFFD may have been sent. */
function isExact(charset: string, bytes: Buffer): boolean {
  try {
    new TextDecoder(charset, { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
