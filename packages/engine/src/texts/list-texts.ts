/** A text of a JSON value, and its path in the rule. */
export interface PlacedText {
  readonly text: string
  readonly place: string
}

/** Lists the names of fields of a JSON value, at any depth. */
export function listNames(json: unknown, place: string): PlacedText[] {
  if (typeof json !== 'object' || json === null) return []
  const below = Object.entries(json).flatMap(([key, value]) =>
    listNames(value, Array.isArray(json) ? `${place}[${key}]` : `${place}.${key}`),
  )
  return Array.isArray(json) ? below : [...Object.keys(json).map((text) => ({ text, place })), ...below]
}

/** Lists the texts of a JSON value, at any depth. Names of fields are not texts. */
export function listTexts(json: unknown, place: string): PlacedText[] {
  if (typeof json === 'string') return [{ text: json, place }]
  if (Array.isArray(json)) return json.flatMap((item, index) => listTexts(item, `${place}[${index}]`))
  if (typeof json !== 'object' || json === null) return []
  return Object.entries(json).flatMap(([key, value]) => listTexts(value, `${place}.${key}`))
}
