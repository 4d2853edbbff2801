import { isUtf8 } from 'node:buffer'
import { compilePath, parsePath, readPath, scanJson } from '@automation/engine'
import type { Dispatcher } from 'undici'
import { decode } from './decode.js'
import { decompress, hasUnknownEncoding } from './decompress.js'

/** Of a response, as it comes and after decompression. */
export const maxCapturedBytes = 262_144
/** Of the values of one response, as JSON. */
const maxValueBytes = 4_096
/** Of the body, with at least 16 digits: each is looked at. */
const maxLongNumbers = 5_000
/** Of the body: deeper JSON takes long to read. */
const maxDepth = 100

export interface CapturedResponse {
  headers: Dispatcher.ResponseData['headers']
  bytes: Buffer
  /** False for a body that was cut off, or that is longer than what was read of it. */
  isWhole: boolean
}

/**
 * Takes values from a response, by their names. What is missing or too large is left out, with a warning; the result of the call stays what
 * it is. The bytes are from strangers: they are counted before they are parsed, and what is kept is cleaned.
 *
 * @param scrub removes secrets from a value, which may make it longer
 */
export function captureValues(
  capture: Readonly<Record<string, string>>,
  response: CapturedResponse,
  scrub: (value: unknown) => unknown = (value) => value,
): { captured: Record<string, unknown>; warnings: string[] } {
  const captured: Record<string, unknown> = {}
  const warnings: string[] = []
  const readsBody = Object.values(capture).some((path) => path.startsWith('body'))
  const body: ReadBody = readsBody ? readBody(response) : {}
  if ('fault' in body) warnings.push(`capture: ${body.fault}`)
  const source = { headers: response.headers, ...('value' in body && { body: body.value }) }
  const { brokenCharset } = body
  let left = maxValueBytes
  let hasList = false
  for (const [name, path] of Object.entries(capture)) {
    if ('fault' in body && path.startsWith('body')) continue
    const value = findValue(path, source)
    const isList = Array.isArray(value)
    const taken =
      value === undefined
        ? { fault: `the response has no ${path}` }
        : takeValue(value, left, scrub, path.startsWith('body') ? brokenCharset : undefined)
    if ('fault' in taken) warnings.push(`capture.${name}: ${taken.fault}`)
    else if (isList && hasList) warnings.push(`capture.${name}: only one value of a response may be a list`)
    else {
      captured[name] = taken.value
      left -= taken.bytes
      hasList ||= isList
    }
  }
  return { captured, warnings }
}

interface ReadBody {
  value?: unknown
  fault?: string
  brokenCharset?: string | undefined
}

function readBody({ headers, bytes, isWhole }: CapturedResponse): ReadBody {
  if (bytes.length > maxCapturedBytes) return tooLarge
  if (!isWhole) return { fault: 'the response was cut off' }
  if (bytes.length === 0) return { fault: 'the response has no body' }
  try {
    const plain = decompress(bytes, headers['content-encoding'], maxCapturedBytes)
    const { text, brokenCharset } = decode(plain, String(headers['content-type'] ?? ''))
    const { exact, depth, compared } = scanJson(text, maxLongNumbers)
    if (depth > maxDepth) return { fault: `the response is nested deeper than ${maxDepth} levels` }
    if (compared > maxLongNumbers)
      return { fault: `the response has more than ${maxLongNumbers} long numbers` }
    try {
      return { value: JSON.parse(exact), brokenCharset }
    } catch {
      if (hasUnknownEncoding(headers['content-encoding']))
        return { fault: 'the response has an unknown content-encoding' }
      return { fault: `the response is not JSON${describeType(headers['content-type'])}` }
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge : { fault: 'the response could not be decompressed' }
  }
}

const tooLarge = { fault: 'the response has more than 256 KiB' }

function describeType(type: string | string[] | undefined): string {
  const [found] = /^[\w.+-]{1,40}\/[\w.+-]{1,40}/.exec(String(type ?? '')) ?? []
  return found === undefined ? '' : `, but ${found}`
}

function findValue(path: string, source: { headers: object; body?: unknown }): unknown {
  if (!parsePath(path)) return undefined
  if (!path.startsWith('headers.')) return readPath(compilePath(path), source)
  // Names of headers have no case; Node writes them in lower case.
  return readHeaderText(readPath(compilePath(path.toLowerCase()), source))
}

/** Headers are read as Latin 1. What is UTF-8 in truth, which is seldom so by chance, is read as that. */
function readHeaderText(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readHeaderText)
  if (typeof value !== 'string' || !/^[\0-\xff]*$/.test(value)) return value
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : value
}

type Taken = { value: unknown; bytes: number } | { fault: string }

/** Copies a value as it can be stored. No more of it is looked at than may be kept. */
function takeValue(
  value: unknown,
  maxBytes: number,
  scrub: (value: unknown) => unknown,
  brokenCharset: string | undefined,
): Taken {
  const copy = new CleanCopy(maxBytes, brokenCharset)
  const copied = copy.take(value)
  if (copy.fault !== undefined) return { fault: copy.fault }
  const clean = scrub(copied)
  const bytes = Buffer.byteLength(JSON.stringify(clean))
  return bytes > maxBytes ? { fault: beyondLimit } : { value: clean, bytes }
}

const beyondLimit = 'the values of a response may have at most 4 KiB together'

/** Without NUL and lone surrogates, which Postgres refuses, and without `__proto__`. */
class CleanCopy {
  fault: string | undefined
  #left: number
  readonly #brokenCharset: string | undefined

  /** @param brokenCharset that of a response with bytes that it has not: U+FFFD stands for them, and was not sent */
  constructor(maxLength: number, brokenCharset: string | undefined) {
    this.#left = maxLength
    this.#brokenCharset = brokenCharset
  }

  take(value: unknown): unknown {
    if (typeof value === 'string') return this.#takeText(value)
    this.#spend(1)
    // Postgres would keep a null, so an action after a WAIT would read another value than one before it.
    if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY)
      this.fault ??= 'the value has a number that is too large'
    if (typeof value !== 'object' || value === null || this.fault !== undefined) return value
    return Array.isArray(value) ? this.#takeList(value) : this.#takeObject(value)
  }

  #takeText(text: string): string {
    // A value of no characters is one to look at, too.
    this.#spend(Math.max(1, text.length))
    if (this.#brokenCharset !== undefined && text.includes('\ufffd'))
      this.fault ??= `the value has characters that are not ${this.#brokenCharset}`
    return this.fault === undefined ? text.replaceAll('\0', '').toWellFormed() : ''
  }

  #takeList(list: readonly unknown[]): unknown[] {
    const copy: unknown[] = []
    for (const item of list) {
      if (this.fault !== undefined) break
      copy.push(this.take(item))
    }
    return copy
  }

  #takeObject(object: object): object {
    const copy: Record<string, unknown> = {}
    for (const key in object) {
      if (this.fault !== undefined) break
      if (key === '__proto__') continue
      const name = this.#takeText(key)
      if (name !== '__proto__') copy[name] = this.take((object as Record<string, unknown>)[key])
    }
    return copy
  }

  #spend(length: number): void {
    this.#left -= length
    if (this.#left < 0) this.fault ??= beyondLimit
  }
}
