import type { Effect } from '@automation/engine'
import type { Dispatcher } from 'undici'

type Headers = Dispatcher.ResponseData['headers']

/** The rest of a longer body is not read, and its connection is closed. */
const maxResponseBytes = 65_536
const maxTextLength = 1_000
/** Status codes of temporary refusals: timeout, too early, too many requests. */
const temporaryCodes = new Set([408, 425, 429])

/**
 * Reads what a response means: 2xx is a success. After a temporary failure the call may be repeated, no earlier than the receiver's
 * Retry-After. Any other failure is final, a redirect included: the response to a repeated call would be the same.
 *
 * @throws the error of the network, or the signal's reason, by its promise
 */
export async function readResponse({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Effect> {
  const bytes = await readStart(body)
  if (statusCode >= 200 && statusCode < 300) return { status: 'success', output: { statusCode } }
  const text = readText(headers, bytes)
  const isRedirect = statusCode >= 300 && statusCode < 400
  const effect: Effect = {
    status: 'failed',
    error: `HTTP ${statusCode}${isRedirect ? ': redirects are not followed' : ''}`,
    output: text === undefined ? { statusCode } : { statusCode, body: text },
  }
  if (!temporaryCodes.has(statusCode) && !(statusCode >= 500 && statusCode < 600)) effect.isFinal = true
  else {
    const retryAfterMs = readRetryAfter(headers['retry-after'], Date.now())
    if (retryAfterMs !== undefined) effect.retryAfterMs = retryAfterMs
  }
  return effect
}

/**
 * Parses Retry-After, in seconds or as an HTTP date, into ms; undefined for anything else. packages/client has a parser of its own,
 * since a published client does not depend on this app.
 *
 * @param now epoch ms
 */
export function readRetryAfter(header: string | string[] | undefined, now: number): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000
  const date = text.endsWith('GMT') ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(date - now, 0)
}

async function readStart(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
    if (size > maxResponseBytes) break
  }
  return Buffer.concat(chunks)
}

/** The start of a text body, to help find the fault; undefined where the body is compressed or binary. */
function readText(headers: Headers, bytes: Buffer): string | undefined {
  const type = String(headers['content-type'] ?? 'text/plain')
  const isText =
    /^text\/|[/+](json|xml)\b/i.test(type) && (headers['content-encoding'] ?? 'identity') === 'identity'
  if (!isText || bytes.length === 0) return undefined
  const text = new TextDecoder().decode(bytes).slice(0, maxTextLength).toWellFormed()
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters mark binary content.
  return /[\0-\x08\x0e-\x1f]/.test(text) ? undefined : text
}
