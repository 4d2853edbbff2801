const plainTypes: Record<string, string> = {
  array: 'a list',
  object: 'an object',
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
}

const plainComparisons: Record<string, string> = {
  '<=': 'at most',
  '>=': 'at least',
  '<': 'less than',
  '>': 'greater than',
}

/**
 * Says in words what a schema asks for: `must have at least 1 character`, `must be a list`, `must be at most 20`, and what a
 * pattern means. Ajv and TypeBox say `must NOT have fewer than 1 characters`, `must be array`, `must be <= 20`. Any other message stays.
 *
 * @param schema has the failed one in it: a schema with a `pattern` says in `patternError` what it asks for
 */
export function plainBounds(message: string, schema?: unknown): string {
  return message
    .replace(/match pattern "(.*)"$/is, (said, pattern: string) => findPatternError(schema, pattern) ?? said)
    .replace(
      /not have (fewer|more) than (\d+) (character|item|propert)(?:s|ies)/i,
      (_, bound: string, count: string, what: 'character' | 'item' | 'propert') => {
        const [one, many] = what === 'propert' ? ['property', 'properties'] : [what, `${what}s`]
        return `have at ${bound === 'fewer' ? 'least' : 'most'} ${count} ${count === '1' ? one : many}`
      },
    )
    .replace(/^must be ([<>]=?) /, (_, sign: string) => `must be ${plainComparisons[sign]} `)
    .replace(
      /^must be (?:either )?((?:array|object|string|number|integer|boolean|null)(?:(?:,| or )\w+)*)$/,
      (_, types: string) =>
        `must be ${types
          .split(/,| or /)
          .map(plainType)
          .join(' or ')}`,
    )
}

function findPatternError(schema: unknown, pattern: string): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined
  const said = schema as { pattern?: unknown; patternError?: string }
  if (said.pattern === pattern && said.patternError !== undefined) return said.patternError
  for (const part of Object.values(schema)) {
    const found = findPatternError(part, pattern)
    if (found !== undefined) return found
  }
  return undefined
}

function plainType(type: string): string {
  return plainTypes[type] ?? type
}

/** The style of all messages: a sentence about its field, without a period at its end. */
export function capitalize(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1)
}
