import { type Placeholder, parsePlaceholder } from './placeholder.js'

/** A text, split into literals and placeholders. */
export interface SplitText {
  /** The text before each placeholder, and after the last one. */
  literals: string[]
  placeholders: Placeholder[]
}

/**
 * Splits a text into literals and placeholders, or describes its fault. Reads each character once.
 *
 * @param takesRaw whether the filter raw has a meaning there
 */
export function splitTemplate(text: string, takesRaw = false): SplitText | string {
  const literals: string[] = []
  const placeholders: Placeholder[] = []
  let literal = ''
  let at = 0
  for (let open = text.indexOf('{{'); open >= 0; open = text.indexOf('{{', at)) {
    if (text[open - 1] === '\\' && open > at) {
      literal += `${text.slice(at, open - 1)}{{`
      at = open + 2
      continue
    }
    const found = parsePlaceholder(text, open)
    if (typeof found === 'string') return found
    if (!takesRaw && isRaw(found.placeholder))
      return 'has a filter raw, which only the text of SEND_NOTIFICATION accepts'
    literals.push(literal + text.slice(at, open))
    placeholders.push(found.placeholder)
    literal = ''
    at = found.end
  }
  literals.push(literal + text.slice(at))
  return { literals, placeholders }
}

/** The placeholder that is all of the text. */
export function findOnly({ literals, placeholders }: SplitText): Placeholder | undefined {
  return placeholders.length === 1 && literals.join('') === '' ? placeholders[0] : undefined
}

export function isRaw({ calls }: Placeholder): boolean {
  return calls.at(-1)?.name === 'raw'
}
