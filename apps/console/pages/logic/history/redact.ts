const telling =
  /(^|[-_.])(authorization|cookie|secret|password|passwd|token|signature|api[-_]?key|credential)s?($|[-_.])|[a-z](Secret|Password|Token|ApiKey)$/i
const most = 32

/** Stands in place of a secret. */
export const redacted = '•••'

/** The same value, where texts whose names say that they are secret are dots. Placeholders alone stay, such as a reference to a credential: they tell no secret. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth > most) return value
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, found]) => [
      name,
      typeof found === 'string' && isSecretText(name, found) ? redacted : redact(found, depth + 1),
    ]),
  )
}

export function isSecret(name: string): boolean {
  return telling.test(name)
}

export function isSecretText(name: string, text: string): boolean {
  return isSecret(name) && text !== '' && !/\{\{credentials\./.test(text) && !placeholders.test(text)
}

/** Also behind the name of a scheme: `Bearer {{token}}`. */
const placeholders = /^((Bearer|Basic|Token) +)?(\{\{[^{}]*\}\}\s*)+$/i
