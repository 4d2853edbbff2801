import { cutText, type Effect } from '@automation/engine'
import type { Dispatcher } from 'undici'
import { type CapturedResponse, captureValues, maxCapturedBytes } from './capture-values.js'
import { type Scrubber, scrubValue } from './credentials/create-scrubber.js'
import { decode } from './decode.js'
import { isCompressed } from './decompress.js'
import { failed } from './effect.js'

/** How long (ms) a body may take after its headers, if nothing is captured. The rest of a slower one is not read, and its connection is closed. */
const bodyMs = 1_000
/** The same for the rest of a longer one. */
const maxResponseBytes = 65_536
const maxTextLength = 1_000
/** Status codes of temporary refusals: timeout, too early, too many requests. */
const temporaryCodes = new Set([408, 425, 429])
const redirectCodes = new Set([301, 302, 303, 307, 308])

/** What is done with a response beside reading its status. */
export interface Reading {
  /** What later actions read of it, of a failure too. Then more of its body is read, for as long as the call may take. */
  capture?: Readonly<Record<string, string>> | undefined
  /** Removes what the response repeats of the credentials that were sent. */
  scrubber?: Scrubber | undefined
}

/**
 * Reads what a response means, which its status decides: 2xx is a success. After a temporary failure the call may be repeated, no earlier
 * than the receiver's Retry-After. Any other failure is final, a redirect included: the response to a repeated call would be the same.
 *
 * However the body ends, the receiver has decided. It is read to keep the connection, and to help find the fault.
 *
 * @param url that was called
 */
export async function readResponse(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  url: URL,
  { capture, scrubber }: Reading = {},
): Promise<Effect> {
  const start = await (capture
    ? readStart(body, maxCapturedBytes)
    : readStart(body, maxResponseBytes, bodyMs))
  const taken = capture && takeValues(capture, { headers, ...start }, scrubber)
  if (statusCode >= 200 && statusCode < 300) return { status: 'success', output: { statusCode }, ...taken }
  const text = readText(headers, start, scrubber)
  const effect: Effect = {
    ...failed(
      `HTTP ${statusCode}${redirectCodes.has(statusCode) ? describeRedirect(headers, url, scrubber) : ''}`,
    ),
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
export async function readStart(
  body: Dispatcher.ResponseData['body'],
  maxBytes: number,
  maxMs?: number,
): Promise<Start> {
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

interface Start {
  bytes: Buffer
  /** Whether it is the whole body. */
  isWhole: boolean
}

/** The headers first: a warning has the beginning of some of them. */
function takeValues(
  capture: Readonly<Record<string, string>>,
  response: CapturedResponse,
  scrubber: Scrubber | undefined,
): ReturnType<typeof captureValues> {
  if (scrubber === undefined) return captureValues(capture, response)
  const headers = scrubValue(response.headers, scrubber) as CapturedResponse['headers']
  return captureValues(capture, { ...response, headers }, (value) => scrubValue(value, scrubber))
}

function describeRedirect(
  { location }: Dispatcher.ResponseData['headers'],
  url: URL,
  scrubber: Scrubber | undefined,
): string {
  const target = firstOf(location)?.toWellFormed()
  if (!target) return ': redirects are not followed'
  const address = URL.canParse(target, url.href) ? new URL(target, url).href : target
  return `: redirects are not followed; this one leads to ${scrubber ? scrubber.scrub(address) : address}`
}

/** The start of a text body, to help find the fault; undefined where the body is compressed or binary. */
function readText(
  headers: Dispatcher.ResponseData['headers'],
  { bytes, isWhole }: Start,
  scrubber: Scrubber | undefined,
): string | undefined {
  const type = String(headers['content-type'] ?? 'text/plain')
  const isText = /^text\/|[/+](json|xml)\b/i.test(type) && !isCompressed(headers['content-encoding'])
  if (!isText || bytes.length === 0) return undefined
  const { text: decoded } = decode(bytes, type)
  // Before it is shortened: a part of a secret would not be recognised.
  const whole = scrubber ? scrubber.scrubStart(decoded, maxTextLength, isWhole) : decoded
  const text = cutText(whole, maxTextLength).toWellFormed()
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters mark binary content.
  return /[\0-\x08\x0e-\x1f]/.test(text) ? undefined : text
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
