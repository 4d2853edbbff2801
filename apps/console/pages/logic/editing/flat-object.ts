/** An object that a sentence can show: each of its values is one short thing. */
export type FlatObject = Readonly<Record<string, string | number | boolean | null>>

/** More lines would be slower to draw, and to read, than their JSON. */
const mostEntries = 50

/** Nested values, and texts of several lines, are edited as JSON. */
export function isFlat(value: unknown): value is FlatObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const entries = Object.entries(value)
  if (entries.length > mostEntries) return false
  return entries.every(
    ([name, one]) =>
      isLine(name) &&
      (one === null ||
        ['number', 'boolean'].includes(typeof one) ||
        (typeof one === 'string' && isLine(one))),
  )
}

/** A field of one line drops what no line has. */
function isLine(text: string): boolean {
  return !/[\n\r]/.test(text)
}

/** The same entries in their order, one of them with another name. */
export function renameEntry(object: FlatObject, from: string, to: string): FlatObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name === from ? to : name, value]))
}
