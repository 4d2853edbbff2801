const telling =
  /(^|[-_.])(authorization|cookie|secret|password|passwd|token|signature|api[-_]?key|credential)s?($|[-_.])|[a-z](Secret|Password|Token|ApiKey)$/i
const most = 32

/** The same value, where texts whose names say that they are secret are dots. A reference to a credential stays: it tells no secret. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth > most) return value
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, found]) => [
      name,
      typeof found === 'string' && isSecret(name) && !/\{\{credentials\./.test(found)
        ? '•••'
        : redact(found, depth + 1),
    ]),
  )
}

export function isSecret(name: string): boolean {
  return telling.test(name)
}
