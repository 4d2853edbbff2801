import { lonePlaceholder, plainPath } from './actions/emit-event.js'
import { beResponsePath, headerValue, responsePath } from './actions/send-webhook.js'
import { recordedName } from './recorded.js'

/** What the patterns of configs ask for. */
const plainPatterns = new Map<string, string>([
  [headerValue, 'have only characters of ISO 8859-1 and no line break: a header carries no others'],
  [recordedName, 'begin with a letter, and have at most 64 letters, digits, _ and -'],
  [responsePath, beResponsePath],
  [plainPath, 'be the path of a list, such as items, without {{ }}'],
  [lonePlaceholder, 'be an object, or one placeholder that leads to an object'],
])

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
 */
export function plainBounds(message: string): string {
  return message
    .replace(/match pattern "(.*)"$/i, (said, pattern: string) => plainPatterns.get(pattern) ?? said)
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

function plainType(type: string): string {
  return plainTypes[type] ?? type
}

/** The style of all messages: a sentence about its field, without a period at its end. */
export function capitalize(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1)
}
