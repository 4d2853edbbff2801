/**
 * Writes a body as JSON. A bigint becomes a text with the same digits, as the service stores a number with so many.
 *
 * @throws TypeError for NaN and an infinite number, which JSON would turn into null
 */
export function writeBody(body: unknown): string {
  return JSON.stringify(body, (key, value: unknown) => {
    if (typeof value === 'bigint') return String(value)
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new TypeError(`${key} is ${value}, and JSON has no such number`)
    return value
  })
}
