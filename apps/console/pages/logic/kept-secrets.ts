import { mergeDefinitions } from './editing/merge-definitions.js'
import { isSecretText, redact, redacted } from './history/redact.js'
import type { Definition } from './rule-definition.js'

interface Kept {
  definition: Definition
  texts?: Readonly<Record<string, string>> | undefined
}

/** What a browser may keep: dots stand where a name says that its text is a secret, also in JSON that is not finished. */
export function hideSecrets({ definition, texts }: Kept): Kept {
  return {
    definition: redact(definition) as Definition,
    ...(texts && {
      texts: Object.fromEntries(Object.entries(texts).map(([path, text]) => [path, hideInText(text)])),
    }),
  }
}

/**
 * Puts the secrets of the saved rule back where they were.
 *
 * @returns also the names of those that were typed, and are nowhere: their texts are empty
 */
export function bringSecrets(
  kept: Definition,
  saved: Definition | undefined,
): { definition: Definition; missing: readonly string[] } {
  const { merged } = saved ? mergeDefinitions(redact(saved) as Definition, kept, saved) : { merged: kept }
  const missing = new Set<string>()
  const empty = (value: unknown, name = ''): unknown => {
    if (value === redacted && isSecretText(name, value)) {
      missing.add(name)
      return ''
    }
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map((item) => empty(item))
    return Object.fromEntries(Object.entries(value).map(([key, found]) => [key, empty(found, key)]))
  }
  return { definition: empty(merged) as Definition, missing: [...missing] }
}

/** Which of these names still have no text. */
export function findEmpty(definition: Definition, names: readonly string[]): readonly string[] {
  const text = JSON.stringify(definition)
  return names.filter((name) => text.includes(`${JSON.stringify(name)}:""`))
}

/** Of JSON as far as it goes: `"Authorization": "Bearer …`. */
function hideInText(text: string): string {
  return text.replace(
    /"([^"\\\n]+)"(\s*:\s*)"((?:[^"\\]|\\.)*)("?)/g,
    (all, name: string, between: string, value: string, end: string) =>
      isSecretText(name, value) ? `"${name}"${between}"${redacted}${end}` : all,
  )
}
