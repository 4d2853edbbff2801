import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import { compilePath, parsePath, readPath, scanJson } from '@automation/engine'
import type { Dispatcher } from 'undici'
import { decode } from './decode.js'

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
  const body = readsBody ? readBody(response) : {}
  if ('fault' in body) warnings.push(`capture: ${body.fault}`)
  const source = { headers: response.headers, ...('value' in body && { body: body.value }) }
  let left = maxValueBytes
  let hasList = false
  for (const [name, path] of Object.entries(capture)) {
    if ('fault' in body && path.startsWith('body')) continue
    const value = findValue(path, source)
    const isList = Array.isArray(value)
    const taken =
      value === undefined ? { fault: `the response has no ${path}` } : takeValue(value, left, scrub)
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

function readBody({ headers, bytes, isWhole }: CapturedResponse): { value: unknown } | { fault: string } {
  if (bytes.length > maxCapturedBytes) return tooLarge
  if (!isWhole) return { fault: 'the response was cut off' }
  if (bytes.length === 0) return { fault: 'the response has no body' }
  const encoding = String(headers['content-encoding'] ?? 'identity')
    .trim()
    .toLowerCase()
  const decompress = decompressors.get(encoding)
  if (decompress === undefined) return { fault: 'the response has an unknown content-encoding' }
  try {
    const plain = decompress(bytes)
    const text = decode(plain, String(headers['content-type'] ?? ''))
    const { exact, depth, compared } = scanJson(text, maxLongNumbers)
    if (depth > maxDepth) return { fault: `the response is nested deeper than ${maxDepth} levels` }
    if (compared > maxLongNumbers)
      return { fault: `the response has more than ${maxLongNumbers} long numbers` }
    try {
      return { value: JSON.parse(exact) }
    } catch {
      return { fault: `the response is not JSON${describeType(headers['content-type'])}` }
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge : { fault: 'the response could not be decompressed' }
  }
}

const tooLarge = { fault: 'the response has more than 256 KiB' }

/** They stop where the result exceeds its limit, however large it would become. */
const decompressors = new Map<string, (bytes: Buffer) => Buffer>([
  ['identity', (bytes) => bytes],
  ['gzip', (bytes) => gunzipSync(bytes, { maxOutputLength: maxCapturedBytes })],
  ['x-gzip', (bytes) => gunzipSync(bytes, { maxOutputLength: maxCapturedBytes })],
  ['deflate', (bytes) => inflateSync(bytes, { maxOutputLength: maxCapturedBytes })],
  ['br', (bytes) => brotliDecompressSync(bytes, { maxOutputLength: maxCapturedBytes })],
])

function describeType(type: string | string[] | undefined): string {
  const [found] = /^[\w.+-]{1,40}\/[\w.+-]{1,40}/.exec(String(type ?? '')) ?? []
  return found === undefined ? '' : `, but ${found}`
}

function findValue(path: string, source: { headers: object; body?: unknown }): unknown {
  if (!parsePath(path)) return undefined
  // Names of headers have no case; Node writes them in lower case.
  return readPath(compilePath(path.startsWith('headers.') ? path.toLowerCase() : path), source)
}

type Taken = { value: unknown; bytes: number } | { fault: string }

/** Copies a value as it can be stored. No more of it is looked at than may be kept. */
function takeValue(value: unknown, maxBytes: number, scrub: (value: unknown) => unknown): Taken {
  const copy = new CleanCopy(maxBytes)
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

  constructor(maxLength: number) {
    this.#left = maxLength
  }

  take(value: unknown): unknown {
    if (typeof value === 'string') return this.#takeText(value)
    this.#spend(1)
    if (typeof value !== 'object' || value === null || this.fault !== undefined) return value
    return Array.isArray(value) ? this.#takeList(value) : this.#takeObject(value)
  }

  #takeText(text: string): string {
    // A value of no characters is one to look at, too.
    this.#spend(Math.max(1, text.length))
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
