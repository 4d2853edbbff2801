import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib'

type Header = string | string[] | undefined

/** More than anybody applies: each may take as long as a whole body. */
const maxEncodings = 4

/**
 * Undoes the compressions of a body, the last one first. Other words (identity, none, utf-8) change nothing: the parser of the body decides.
 *
 * @param encoding the header content-encoding
 * @param maxBytes where a result exceeds it, the work stops
 * @throws Error for what is not compressed so; its code is ERR_BUFFER_TOO_LARGE where the result is too large
 */
export function decompress(bytes: Buffer, encoding: Header, maxBytes: number): Buffer {
  const applied = listEncodings(encoding).flatMap((name) => decompressors.get(name) ?? [])
  if (applied.length > maxEncodings) throw new Error('More compressions than anybody applies')
  return applied.reduceRight((body, undo) => undo(body, { maxOutputLength: maxBytes }), bytes)
}

/** Whether a body has to be decompressed, as far as its header says. */
export function isCompressed(encoding: Header): boolean {
  return listEncodings(encoding).some((name) => decompressors.has(name))
}

/** An encoding that is neither a compression which this process undoes, nor a usual word for none. */
export function hasUnknownEncoding(encoding: Header): boolean {
  return listEncodings(encoding).some((name) => !decompressors.has(name) && !/^(?:|identity)$/.test(name))
}

function listEncodings(header: Header = ''): string[] {
  return [header]
    .flat()
    .join()
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
}

type Undo = (bytes: Buffer, options: { maxOutputLength: number }) => Buffer

const decompressors = new Map<string, Undo>([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflate],
  ['br', brotliDecompressSync],
])

/** With the header of zlib, as the standard says, or without it, as some servers send it: browsers read both. */
function inflate(bytes: Buffer, options: { maxOutputLength: number }): Buffer {
  const hasHeader = bytes.length > 1 && ((bytes[0] ?? 0) & 15) === 8 && bytes.readUInt16BE(0) % 31 === 0
  return hasHeader ? inflateSync(bytes, options) : inflateRawSync(bytes, options)
}
