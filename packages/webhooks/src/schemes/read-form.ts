import { isUtf8 } from 'node:buffer'

/** The fields of a form: a text, or for a name that comes several times the list of its texts. */
export type FormFields = Record<string, string | string[]>

export const maxFormFields = 1_000

/** @returns undefined where the body is no form in UTF-8, has more than 1,000 fields, or one that is no name for an object's */
export function readForm(body: Buffer): FormFields | undefined {
  // Counted before anything is made of them.
  if (!isUtf8(body) || countFields(body) > maxFormFields || !isUtf8(decodePercents(body))) return undefined
  const fields: FormFields = Object.create(null)
  for (const [name, value] of new URLSearchParams(body.toString())) {
    // JSON with it is refused, too.
    if (name === '__proto__') return undefined
    const known = fields[name]
    if (known === undefined) fields[name] = value
    else if (Array.isArray(known)) known.push(value)
    else fields[name] = [known, value]
  }
  return fields
}

function countFields(body: Buffer): number {
  let count = body.length === 0 ? 0 : 1
  for (let at = body.indexOf('&'); at !== -1 && count <= maxFormFields; at = body.indexOf('&', at + 1))
    count++
  return count
}

const [percent] = Buffer.from('%') as unknown as [number]

/** What URLSearchParams would decode as UTF-8: it writes U+FFFD for bytes that are none, and the text would be another one than was sent. */
function decodePercents(body: Buffer): Buffer {
  let at = body.indexOf(percent)
  if (at === -1) return body
  const bytes = Buffer.from(body)
  let length = at
  while (at < body.length) {
    const byte = body[at] === percent ? readHex(body[at + 1], body[at + 2]) : undefined
    bytes[length++] = byte ?? (body[at] as number)
    at += byte === undefined ? 1 : 3
  }
  return bytes.subarray(0, length)
}

function readHex(high: number | undefined, low: number | undefined): number | undefined {
  const digits = [valueOfDigit(high), valueOfDigit(low)] as const
  return digits[0] === -1 || digits[1] === -1 ? undefined : digits[0] * 16 + digits[1]
}

function valueOfDigit(code = 0): number {
  if (code >= 48 && code <= 57) return code - 48
  const letter = code | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}
