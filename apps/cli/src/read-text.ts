import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { CommandError } from './command-error.js'

/**
 * Reads a file as text; `-` is standard input.
 *
 * @throws CommandError if it cannot be read, or is not UTF-8
 */
export async function readText(path: string, name = path): Promise<string> {
  const reading = path === '-' ? buffer(process.stdin) : readFile(path)
  const bytes = await reading.catch((error: Error) => {
    throw new CommandError(`${name} cannot be read: ${error.message}.`, { cause: error })
  })
  return decodeText(bytes, name)
}

/**
 * Decodes a text. The mark that editors of Windows put at its beginning is no part of it.
 *
 * @throws CommandError for what is not UTF-8: a decoder that replaces it would change names and secrets, and nobody would see it
 */
export function decodeText(bytes: Buffer, name: string): string {
  const utf16 = findUtf16(bytes)
  if (utf16)
    throw new CommandError(
      `${name} is UTF-16, which PowerShell 5 writes with > and |: save it as UTF-8, or let the command write it with --output.`,
    )
  if (isUtf8(bytes)) return bytes.toString().replace(/^\ufeff/, '')
  const at = findNotUtf8(bytes)
  const line = bytes.subarray(0, at).filter((byte) => byte === 10).length + 1
  throw new CommandError(`${name}:${line}: is not UTF-8 (near byte ${at + 1}): save the file as UTF-8.`)
}

/** By its mark, or by its second character, which is in half of all texts ASCII. */
function findUtf16([first, second, third, fourth]: Buffer): boolean {
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true
  return (
    (first !== 0 && second === 0 && third !== 0 && fourth === 0) ||
    (first === 0 && second !== 0 && third === 0)
  )
}

function findNotUtf8(bytes: Buffer): number {
  const decoded = Buffer.from(bytes.toString())
  const at = bytes.findIndex((byte, index) => byte !== decoded[index])
  return at === -1 ? bytes.length : at
}
