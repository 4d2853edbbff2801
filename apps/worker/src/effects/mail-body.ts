import { escapeHtml } from '@automation/engine'
import type { ActionOf, CallContext } from './effect.js'
import type { StoredTemplate } from './mail-templates.js'

/** What a mail says: as text, as HTML, or as both. */
export interface MailBody {
  text: string | null
  html: string | null
  warnings: string[]
}

/** Writes a mail with the template that its action names, or without one; or says why that cannot be. */
export function writeMail(
  template: StoredTemplate | undefined,
  config: ActionOf<'SEND_EMAIL'>['config'],
  context: CallContext,
): MailBody | { fault: string } {
  const name = `"${config.template}"`
  if (template === undefined) {
    const warnings = [`No template named ${name}: the built-in mail was sent`]
    return { ...writeBuiltIn(config, context), warnings }
  }
  const mail = 'fault' in template ? template : template.render(context.event.data, config.variables ?? {})
  if ('fault' in mail) return { fault: `The template ${name} ${mail.fault}` }
  return { ...mail, warnings: mail.warnings.map((warning) => `Template ${name}: ${warning}`) }
}

/**
 * The built-in mail: readable for whatever rule sends it. It tells the template's name and the variables that the
 * rule hands over, and nothing else of the event, since whom a rule writes to is not who may read all of it.
 */
function writeBuiltIn(
  { subject, template, variables = {} }: ActionOf<'SEND_EMAIL'>['config'],
  { rule, event }: CallContext,
): { text: string; html: string } {
  const rows = Object.entries(variables).map(([name, value]) => [name, showValue(value)] as const)
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
      rows.length ? `<table>${rows.map(showRow).join('')}</table>` : '',
      `<p><small>${escapeHtml(origin)}</small></p>`,
    ].join('\n'),
  }
}

function showRow([name, value]: readonly [string, string]): string {
  return `<tr><th align="left">${escapeHtml(name)}</th><td>${escapeHtml(value)}</td></tr>`
}

function showValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
