import { writeText } from './fill-placeholder.js'
import { findOnly, splitTemplate } from './split-template.js'
import { compileTemplate, joinParts, type Template } from './template.js'
import { writeEncoded } from './url-template.js'

const accepted = { credentials: true }

/** Compiles a text of a body. Within the text of a form, a credential is encoded: it has no filter that could do it. */
export function compileBody(text: string, config: Readonly<Record<string, unknown>>): Template | string {
  const split = splitTemplate(text, accepted)
  const isPlain =
    typeof split === 'string' || split.placeholders.length === 0 || findOnly(split) !== undefined
  if (isPlain || !isForm(config)) return compileTemplate(text, accepted)
  return joinParts(split, ({ credential }) => (credential === undefined ? writeText : writeEncoded))
}

function isForm({ body, headers }: Readonly<Record<string, unknown>>): boolean {
  if (typeof body !== 'string' || typeof headers !== 'object' || headers === null) return false
  return Object.entries(headers).some(
    ([name, value]) =>
      /^content-type$/i.test(name) && /^application\/x-www-form-urlencoded\b/i.test(String(value)),
  )
}
