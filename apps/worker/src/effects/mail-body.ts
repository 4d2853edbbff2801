import type { ActionOf, RunContext } from './effect.js'

/**
 * The built-in mail: readable for whatever rule sends it. It tells the template's name and the variables that the
 * rule hands over, and nothing else of the event, since whom a rule writes to is not who may read all of it.
 */
export function writeMail(
  { subject, template, variables = {} }: ActionOf<'SEND_EMAIL'>['config'],
  { rule, event }: RunContext,
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

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
