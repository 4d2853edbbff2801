import { lonePlaceholder } from './actions/emit-event.js'
import { headerValue } from './actions/send-webhook.js'

/** What the patterns of configs ask for. */
const plainPatterns = new Map<string, string>([
  [headerValue, 'have only characters of ISO 8859-1 and no line break: a header carries no others'],
  [lonePlaceholder, 'be an object, or one placeholder that leads to an object'],
])

/**
 * Says a limit of length as people do: `must have at least 1 character`, and what a pattern asks for. Ajv and TypeBox say
 * `must NOT have fewer than 1 characters`. Any other message stays.
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
}
