import { isSecret } from './redact.js'

/** A command for a shell that makes a call of an action again. Secrets are variables that somebody fills in. */
export function curlOfCall(config: unknown): string | undefined {
  const { url, method = 'POST', headers = {}, body } = (config ?? {}) as Record<string, unknown>
  if (typeof url !== 'string') return undefined
  const all = { ...(body !== undefined && { 'content-type': 'application/json' }), ...(headers as object) }
  return joinLines([
    `curl -X ${quote(String(method))} ${quote(url)}`,
    ...Object.entries(all).map(([name, value]) =>
      isSecret(name) ? `-H ${quote(`${name}: `)}"$${variableOf(name)}"` : `-H ${quote(`${name}: ${value}`)}`,
    ),
    ...(body === undefined ? [] : [`-d ${quote(typeof body === 'string' ? body : JSON.stringify(body))}`]),
  ])
}

/** A command that posts an event with the same data. @param address of the API; '' if it is not known */
export function curlOfEvent(
  address: string,
  workspaceId: string,
  event: { type: string; data: unknown },
): string {
  return joinLines([
    `curl ${quote(`${address || 'https://<the API>'}/api/events`)}`,
    '-H "Authorization: Bearer $API_KEY"',
    `-H ${quote(`x-workspace-id: ${workspaceId}`)}`,
    `-H 'Content-Type: application/json'`,
    `-d ${quote(JSON.stringify({ eventType: event.type, data: event.data }))}`,
  ])
}

function joinLines(parts: string[]): string {
  return parts.join(' \\\n  ')
}

/** For a shell of POSIX: within single quotes nothing has a meaning but the quote itself. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function variableOf(name: string): string {
  return name.toUpperCase().replace(/[^A-Z0-9]+/g, '_')
}
