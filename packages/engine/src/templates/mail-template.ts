import type { Fault } from '../fault.js'
import { capitalize } from '../texts/capitalize.js'
import { maxRenderedLength } from '../values/to-text.js'
import type { Evaluation } from '../work/evaluation.js'
import type { Rendering } from './fill-placeholder.js'
import { findForeignSyntax } from './foreign-syntax.js'
import { compileLoopText } from './loop-template.js'
import { maxPlaceholders } from './placeholder.js'
import { compileText, type TextTemplate } from './template.js'

/** The parts of a mail. A part that it lacks is null or absent. */
export interface MailTexts {
  /** A stored template has no subject: the action has it. A preview renders both together. */
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
   * Renders the texts from the event's data and the action's variables, which have precedence. The subject, as in an
   * action, uses the data only. Never throws on JSON, and never renders its own output again.
   *
   * @param evaluation to it the work of filters is charged
   */
  render(data: object, variables: object, evaluation: Evaluation): RenderedMail | { fault: string }
}

type MailPart = keyof MailTexts

/** The value of a placeholder is text in every part, so it is never markup in HTML. */
const quotes: Record<MailPart, (text: string) => string> = {
  subject: (text) => text,
  text: (text) => text,
  html: escapeHtml,
}

/** Finds the faults in a template's placeholders. Takes any shape, and ignores faults that a schema reports. */
export function findMailTemplateFaults(texts: { [Part in MailPart]?: unknown }): Fault[] {
  return (Object.keys(quotes) as MailPart[]).flatMap((field) => {
    const text = texts[field]
    if (typeof text !== 'string') return []
    const template = compileField(text, field)
    if (typeof template === 'string') return [{ field, message: capitalize(template) }]
    if (template.placeholders > maxPlaceholders)
      return [{ field, message: `Must have at most ${maxPlaceholders} placeholders` }]
    const foreign = [...(template.parts ?? []), ...(template.itemParts ?? [])].map(({ name }) =>
      findForeignSyntax(name),
    )
    return foreign
      .filter((fault) => fault !== undefined)
      .map((message) => ({ field, message: capitalize(message) }))
  })
}

/** Compiles texts without faults (findMailTemplateFaults). Throws an Error otherwise. */
export function compileMailTemplate(texts: MailTexts): MailTemplate {
  const subject = compilePart(texts, 'subject')
  const text = compilePart(texts, 'text')
  const html = compilePart(texts, 'html')
  return {
    render(data, variables, evaluation) {
      const rendering: Rendering = { warnings: [], size: 0, evaluation }
      // A spread defines keys and never assigns them, so `__proto__` is an ordinary key.
      const known = Object.keys(variables).length === 0 ? data : { ...data, ...variables }
      const mail = {
        subject: subject?.render(data, rendering) ?? null,
        text: text?.render(known, rendering) ?? null,
        html: html?.render(known, rendering) ?? null,
        warnings: rendering.warnings,
      }
      if (!evaluation.affords(0)) return { fault: `cannot be rendered: ${evaluation.fault}` }
      return rendering.size > maxRenderedLength
        ? { fault: `renders to more than ${maxRenderedLength} characters` }
        : mail
    },
  }
}

/** A subject prints no lists. */
function compileField(text: string, part: MailPart): TextTemplate | string {
  return part === 'subject' ? compileText(text, quotes.subject) : compileLoopText(text, quotes[part])
}

/** Escapes text for HTML, including quoted attributes. */
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
/** By character code, which takes a third of the time of `replace` with a function. */
const entities = Array.from({ length: 128 }, (_, code) => entitiesByCharacter[String.fromCharCode(code)])

function compilePart(texts: MailTexts, part: MailPart): TextTemplate | undefined {
  const text = texts[part] ?? undefined
  const template = text === undefined ? undefined : compileField(text, part)
  if (typeof template === 'string') throw new Error(`A mail's ${part} ${template}`)
  return template
}
