/** Longer ones are not of the API. */
const maxLength = 500

/** What a refusal says in `WWW-Authenticate` or `Link`, as a sentence. Its body is fixed, so the details are there. */
export function readHint(headers: Headers): string | undefined {
  const description = readParameter(headers.get('www-authenticate'), 'error_description')
  const title = readParameter(headers.get('link'), 'title')
  const [, nearest] = /^Nearest: ([^\s,]+)/.exec(title ?? '') ?? []
  return description ?? (nearest === undefined ? title : `Did you mean ${nearest}?`)
}

/** "Access denied: the role editor is needed", and "Invalid trigger type. Did you mean LEAD_CREATED?" */
export function addHint(message: string, hint: string | undefined): string {
  if (hint === undefined) return message
  return hint.endsWith('?')
    ? `${message}. ${hint}`
    : `${message}: ${hint.replace(/^[A-Z](?=[a-z])/, toLower)}`
}

function toLower(letter: string): string {
  return letter.toLowerCase()
}

function readParameter(header: string | null, name: string): string | undefined {
  if (header === null || header.length > maxLength) return undefined
  return new RegExp(`\\b${name}="([^"]+)"`).exec(header)?.[1]
}
