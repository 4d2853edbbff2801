import { escapeHtml } from '@automation/engine'
import type { ActionOf, CallContext } from './effect.js'
import { htmlToText } from './html-to-text.js'
import type { StoredTemplate } from './mail-templates.js'

/** The content of a mail: text, or text and HTML. */
export interface MailBody {
  text: string
  html: string | null
  warnings: string[]
}

/** Renders a mail with its template, or the built-in mail where there is none. Returns the fault where the template fails. */
export function writeMail(
  template: StoredTemplate | undefined,
  config: ActionOf<'SEND_EMAIL'>['config'],
  context: CallContext,
): MailBody | { fault: string } {
  const name = `"${config.template}"`
  if (template === undefined) {
    const warnings = [`No template named ${name}, so the built-in email was sent`]
    return { ...writeBuiltIn(config, context), warnings }
  }
  const { event, evaluation } = context
  evaluation.beginRule()
  const mail =
    'fault' in template ? template : template.render(event.data, config.variables ?? {}, evaluation)
  if ('fault' in mail) return { fault: `The template ${name} ${mail.fault}` }
  const { text, html } = mail
  return {
    text: text ?? htmlToText(html ?? ''),
    html,
    warnings: mail.warnings.map((warning) => `Template ${name}: ${warning}`),
  }
}

/**
 * Renders the built-in mail, which suits any rule. It shows the template's name and the rule's variables, and nothing else of the
 * event: the recipient of a mail may not be allowed to read the whole event.
 */
function writeBuiltIn(
  { subject, template, variables = {} }: ActionOf<'SEND_EMAIL'>['config'],
  { rule, event }: CallContext,
): { text: string; html: string } {
  const rows = Object.entries(variables).map(([name, value]) => [name, formatValue(value)] as const)
  const origin = `Sent by the automation rule "${rule.name}" (${template}) for ${event.type}.`
  return {
    text: [
      subject,
      '',
      ...rows.map(([name, value]) => `${name}: ${value}`),
      ...(rows.length ? [''] : []),
      origin,
    ].join('\n'),
    html: [
      `<h1>${escapeHtml(subject)}</h1>`,
      rows.length ? `<table>${rows.map(renderRow).join('')}</table>` : '',
      `<p><small>${escapeHtml(origin)}</small></p>`,
    ].join('\n'),
  }
}

/** HTML would show the lines of a value as one. */
function renderRow([name, value]: readonly [string, string]): string {
  return `<tr><th align="left">${escapeHtml(name)}</th><td style="white-space:pre-wrap">${escapeHtml(value)}</td></tr>`
}

function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
