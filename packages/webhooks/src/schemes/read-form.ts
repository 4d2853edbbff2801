import { isUtf8 } from 'node:buffer'

/** The fields of a form: a text, or for a name that comes several times the list of its texts. */
export type FormFields = Record<string, string | string[]>

export const maxFormFields = 1_000

/** @returns undefined where the body is no form in UTF-8, has more than 1,000 fields, or one that is no name for an object's */
export function readForm(body: Buffer): FormFields | undefined {
  // Counted before anything is made of them.
  if (!isUtf8(body) || countFields(body) > maxFormFields) return undefined
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
