import type { Effect } from '@automation/engine'
import type { Dispatcher } from 'undici'
import { captureValues, maxCapturedBytes } from './capture-values.js'
import { decode } from './decode.js'
import { failed } from './effect.js'

/** How long (ms) a body may take after its headers, if nothing is captured. The rest of a slower one is not read, and its connection is closed. */
const bodyMs = 1_000
/** The same for the rest of a longer one. */
const maxResponseBytes = 65_536
const maxTextLength = 1_000
/** Status codes of temporary refusals: timeout, too early, too many requests. */
const temporaryCodes = new Set([408, 425, 429])
const redirectCodes = new Set([301, 302, 303, 307, 308])

/**
 * Reads what a response means, which its status decides: 2xx is a success. After a temporary failure the call may be repeated, no earlier
 * than the receiver's Retry-After. Any other failure is final, a redirect included: the response to a repeated call would be the same.
 *
 * However the body ends, the receiver has decided. It is read to keep the connection, and to help find the fault.
 *
 * @param url that was called
 * @param capture what later actions read of it, of a failure too. Then more of its body is read, for as long as the call may take
 */
export async function readResponse(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  url: URL,
  capture?: Readonly<Record<string, string>>,
): Promise<Effect> {
  const { bytes, isWhole } = await (capture
    ? readStart(body, maxCapturedBytes)
    : readStart(body, maxResponseBytes, bodyMs))
  const taken = capture && captureValues(capture, { headers, bytes, isWhole })
  if (statusCode >= 200 && statusCode < 300) return { status: 'success', output: { statusCode }, ...taken }
  const text = readText(headers, bytes)
  const effect: Effect = {
    ...failed(`HTTP ${statusCode}${redirectCodes.has(statusCode) ? describeRedirect(headers, url) : ''}`),
    output: text === undefined ? { statusCode } : { statusCode, body: text },
    ...taken,
  }
  if (!temporaryCodes.has(statusCode) && !(statusCode >= 500 && statusCode < 600)) effect.isFinal = true
  else {
    const retryAfterMs = readRetryAfter(headers['retry-after'], Date.now())
    if (retryAfterMs !== undefined) effect.retryAfterMs = retryAfterMs
  }
  return effect
}

/**
 * Parses Retry-After, in seconds or as an HTTP date in any of its three forms, into ms; undefined for anything else. packages/client has
 * a parser of its own, since a published client does not depend on this app.
 *
 * @param now epoch ms
 */
export function readRetryAfter(header: string | string[] | undefined, now: number): number | undefined {
  const text = firstOf(header)?.trim() ?? ''
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  // The form of C's asctime() has no zone, and means GMT.
  const isAsctime = /^[a-z]{3} [a-z]{3} +\d{1,2} \d\d:\d\d:\d\d \d{4}$/i.test(text)
  const date = isAsctime ? Date.parse(`${text} GMT`) : text.endsWith('GMT') ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(date - now, 0)
}

/** Reads as much of a body as comes in time, and ignores how it ends. */
async function readStart(
  body: Dispatcher.ResponseData['body'],
  maxBytes: number,
  maxMs?: number,
): Promise<{ bytes: Buffer; isWhole: boolean }> {
  const chunks: Buffer[] = []
  let size = 0
  const timer = maxMs === undefined ? undefined : setTimeout(() => body.destroy(), maxMs)
  try {
    for await (const chunk of body) {
      chunks.push(chunk)
      size += chunk.length
      if (size > maxBytes) break
    }
  } catch {
    // Cut off, reset, or not in time.
  } finally {
    clearTimeout(timer)
  }
  return { bytes: Buffer.concat(chunks), isWhole: body.readableEnded }
}

function describeRedirect({ location }: Dispatcher.ResponseData['headers'], url: URL): string {
  const target = firstOf(location)?.toWellFormed()
  if (!target) return ': redirects are not followed'
  const address = URL.canParse(target, url.href) ? new URL(target, url).href : target
  return `: redirects are not followed; this one leads to ${address}`
}

/** The start of a text body, to help find the fault; undefined where the body is compressed or binary. */
function readText(headers: Dispatcher.ResponseData['headers'], bytes: Buffer): string | undefined {
  const type = String(headers['content-type'] ?? 'text/plain')
  const isText =
    /^text\/|[/+](json|xml)\b/i.test(type) && (headers['content-encoding'] ?? 'identity') === 'identity'
  if (!isText || bytes.length === 0) return undefined
  const text = decode(bytes, type).slice(0, maxTextLength).toWellFormed()
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters mark binary content.
  return /[\0-\x08\x0e-\x1f]/.test(text) ? undefined : text
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
