/**
 * Says a limit of length as people do: `must have at least 1 character`. Ajv and TypeBox say `must NOT have fewer than 1 characters`.
 * Any other message stays.
 */
export function plainBounds(message: string): string {
  return message.replace(
    /not have (fewer|more) than (\d+) (character|item|propert)(?:s|ies)/i,
    (_, bound: string, count: string, what: 'character' | 'item' | 'propert') => {
      const [one, many] = what === 'propert' ? ['property', 'properties'] : [what, `${what}s`]
      return `have at ${bound === 'fewer' ? 'least' : 'most'} ${count} ${count === '1' ? one : many}`
    },
  )
}
