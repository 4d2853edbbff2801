const hidden = '[hidden]'

/**
 * Replaces everything that looks like a secret: passwords and tokens in URLs, the paths of webhooks, bearer tokens, API keys and signing
 * secrets.
 *
 * It takes linear time, because a caller may choose what an error quotes. So each pattern either consumes what it has read, or begins
 * only where no match can be under way.
 */
export function hideSecrets(line: string): string {
  return line
    .replace(/(\b[a-z]+:\/\/[^\s:/@"\\]*):[^\s@/"\\]+@/gi, `$1:${hidden}@`)
    .replace(/\b(Bearer|Basic) +[^\s"\\]{12,}/gi, `$1 ${hidden}`)
    .replace(/\b(?:(?:ark|opk)_[0-9a-f-]{36}_|whsec_)[\w+/=-]+/g, hidden)
    .replace(/(?<![\w-])[\w-]+(?:\.[\w-]*){2,4}/g, hideToken)
    .replace(/([?&#;])([\w.~%[\]-]+)=([^\s"\\&#;]+)/g, hideParameter)
    .replace(/(https?:\/\/[^\s"\\/?#]+)(\/[^\s"\\?#]+)/gi, hidePath)
}

/** A JSON Web Token begins with `{"` in base64. It may stand behind other text, as in `token-eyJ…`. */
function hideToken(text: string): string {
  const start = text.indexOf('eyJ')
  return start >= 0 && start < text.indexOf('.') ? `${text.slice(0, start)}${hidden}` : text
}

const secretName = /token|secret|passw|pwd|signature|credential|auth(?!or)|key$|^(?:sig|code)$/i

function hideParameter(text: string, separator: string, name: string): string {
  return secretName.test(name) ? `${separator}${name}=${hidden}` : text
}

/** Chat services and automation tools accept webhooks from all who know the path. */
function hidePath(_text: string, origin: string, path: string): string {
  const segments = path.split('/')
  if (/hook/i.test(origin)) return `${origin}/${hidden}`
  const hook = segments.findIndex((segment) => /hook/i.test(segment))
  const shown = hook >= 0 && hook < segments.length - 1 ? [...segments.slice(0, hook + 1), hidden] : segments
  return origin + shown.map((segment) => (isRandom(segment) ? hidden : segment)).join('/')
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Long, and with letters and digits. Ids are UUIDs here, and needed to read a log. */
function isRandom(segment: string): boolean {
  return segment.length >= 20 && /\d/.test(segment) && /[a-z]/i.test(segment) && !uuid.test(segment)
}
