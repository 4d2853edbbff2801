import type { Effect } from '@automation/engine'
import type { Dispatcher } from 'undici'

type Headers = Dispatcher.ResponseData['headers']

/** More is not read; the connection is closed. */
const maxAnswerBytes = 65_536
const maxTextLength = 1_000
/** Refused for now: busy, too early, too many. */
const temporaryCodes = new Set([408, 425, 429])

/**
 * What an answer means: 2xx is a success. What may pass by itself may be tried again, when the other side says so;
 * everything else, a redirect too, would be answered the same again.
 *
 * @throws what the network or the signal ended the reading with, by its promise
 */
export async function readAnswer({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Effect> {
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
 * How long (ms) the other side asks to be left alone: seconds, or a date of HTTP; undefined for anything else.
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
    if (size > maxAnswerBytes) break
  }
  return Buffer.concat(chunks)
}

/** What may be shown to whoever looks for the fault: the start of a text, nothing of what is packed or binary. */
function readText(headers: Headers, bytes: Buffer): string | undefined {
  const type = String(headers['content-type'] ?? 'text/plain')
  const isText =
    /^text\/|[/+](json|xml)\b/i.test(type) && (headers['content-encoding'] ?? 'identity') === 'identity'
  if (!isText || bytes.length === 0) return undefined
  const text = new TextDecoder().decode(bytes).slice(0, maxTextLength).toWellFormed()
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what tells binary content.
  return /[\0-\x08\x0e-\x1f]/.test(text) ? undefined : text
}
