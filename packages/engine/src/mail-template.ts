import type { Fault } from './faults.js'
import { maxPlaceholders } from './rule.js'
import { compileText, maxRenderedLength, type Rendering, type TextTemplate } from './template.js'

/** What a mail is written in; null or absent where it has no such part. */
export interface MailTexts {
  /** A template has none: it is the action that names it. Here for trying both out together. */
  subject?: string | null
  text?: string | null
  html?: string | null
}

export interface RenderedMail {
  subject: string | null
  text: string | null
  html: string | null
  warnings: string[]
}

export interface MailTemplate {
  /**
   * Fills the texts from the event's data, with the action's own variables before it; the subject, as in an action, from
   * the data alone. Never throws on JSON, and what it writes is never read as a template again.
   */
  render(data: object, variables: object): RenderedMail | { fault: string }
}

type MailPart = keyof MailTexts

/** What comes out of a placeholder is text in every part, and so in HTML no markup. */
const quotes: Record<MailPart, (text: string) => string> = {
  subject: (text) => text,
  text: (text) => text,
  html: escapeHtml,
}

/** What is wrong with a template's placeholders. Takes any shape, and stays silent where a schema already speaks. */
export function findMailTemplateFaults(texts: { [Part in MailPart]?: unknown }): Fault[] {
  return (Object.keys(quotes) as MailPart[]).flatMap((field) => {
    const text = texts[field]
    if (typeof text !== 'string') return []
    const template = compileText(text, quotes[field])
    if (typeof template === 'string') return [{ field, message: template }]
    return template.placeholders > maxPlaceholders
      ? [{ field, message: `must have at most ${maxPlaceholders} placeholders` }]
      : []
  })
}

/** Compiles texts without faults (findMailTemplateFaults); throws an Error on others. */
export function compileMailTemplate(texts: MailTexts): MailTemplate {
  const subject = compilePart(texts, 'subject')
  const text = compilePart(texts, 'text')
  const html = compilePart(texts, 'html')
  return {
    render(data, variables) {
      const rendering: Rendering = { warnings: [], size: 0 }
      // A spread defines keys and never assigns them, so `__proto__` stays a mere key.
      const known = Object.keys(variables).length === 0 ? data : { ...data, ...variables }
      const mail = {
        subject: subject?.render(data, rendering) ?? null,
        text: text?.render(known, rendering) ?? null,
        html: html?.render(known, rendering) ?? null,
        warnings: rendering.warnings,
      }
      return rendering.size > maxRenderedLength
        ? { fault: `renders to more than ${maxRenderedLength} characters` }
        : mail
    },
  }
}

/** So that it is text wherever it stands in HTML, within a quoted attribute too. */
export function escapeHtml(text: string): string {
  const first = text.search(/[&<>"']/)
  if (first < 0) return text
  let escaped = ''
  let from = 0
  for (let at = first; at < text.length; at++) {
    const entity = entities[text.charCodeAt(at)]
    if (entity === undefined) continue
    escaped += text.slice(from, at) + entity
    from = at + 1
  }
  return escaped + text.slice(from)
}

const entitiesByCharacter: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
/** By character code: a third of the time that `replace` takes with a function. */
const entities = Array.from({ length: 128 }, (_, code) => entitiesByCharacter[String.fromCharCode(code)])

function compilePart(texts: MailTexts, part: MailPart): TextTemplate | undefined {
  const text = texts[part] ?? undefined
  const template = text === undefined ? undefined : compileText(text, quotes[part])
  if (typeof template === 'string') throw new Error(`A mail's ${part} ${template}`)
  return template
}
