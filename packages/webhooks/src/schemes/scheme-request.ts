import { createHmac, hash } from 'node:crypto'
import { readForm } from './read-form.js'
import type { Scheme } from './scheme.js'

/** A request as it was received. */
export interface SchemeRequest {
  /** By their names in lowercase. */
  headers: Readonly<Record<string, unknown>>
  /** The part of its URL after the question mark, as it was sent; '' for none. */
  query: string
  isForm: boolean
  body: Buffer
}

/** A scheme with what depends on the person who has set it up. */
export interface SchemeInUse {
  scheme: Scheme
  /** The URL as the provider calls it. A proxy may have changed it on its way to us. */
  publicUrl?: string
}

/** '' where no header of these names is there. */
export function readHeader(headers: SchemeRequest['headers'], names: readonly string[]): string {
  const value = names.map((name) => headers[name]).find((found) => typeof found === 'string' && found !== '')
  return typeof value === 'string' ? value : ''
}

/** The texts of all signatures, at most 16, as they were sent. */
export function readSignatures({ signature }: Scheme, headers: SchemeRequest['headers']): string[] {
  const { separator, prefix, isPrefixOptional = false } = signature
  return splitHeader(readHeader(headers, signature.headers), separator).flatMap((part) => {
    if (part.startsWith(prefix)) return [part.slice(prefix.length)]
    return isPrefixOptional ? [part.replace(new RegExp(`^${prefix}`, 'i'), '')] : []
  })
}

/** As it was signed; '' where there is none. */
export function readTimestamp({ timestamp, signature }: Scheme, headers: SchemeRequest['headers']): string {
  if (timestamp === undefined) return ''
  const value = readHeader(headers, timestamp.headers)
  const { prefix } = timestamp
  if (prefix === undefined) return value
  const part = splitHeader(value, signature.separator).find((text) => text.startsWith(prefix))
  return part === undefined ? '' : part.slice(prefix.length)
}

/** What the provider has signed. @param spelling of its URL: the first one is that of the settings */
export function listSignedParts(
  { scheme, publicUrl = '' }: SchemeInUse,
  request: SchemeRequest,
  spelling = 0,
): (Buffer | string)[] {
  const { headers, body } = request
  const parts: Record<string, () => Buffer | string> = {
    id: () => readHeader(headers, scheme.id.headers),
    timestamp: () => readTimestamp(scheme, headers),
    body: () => body,
    url: () => urlOf(scheme.isPortOptional ? (spellUrl(publicUrl)[spelling] ?? '') : publicUrl, request),
    fields: () => (request.isForm ? joinFieldsOnce(body) : ''),
  }
  // Every other piece is the name of a part.
  return scheme.signed.split(partNames).map((piece, at) => (at % 2 === 0 ? piece : (parts[piece]?.() ?? '')))
}

/** In how many spellings of its URL a scheme may be signed: each of them costs an HMAC, whatever the URL is. */
export function countSpellings({ isPortOptional }: Scheme): number {
  return isPortOptional ? 2 : 1
}

/** The signature that the provider should have written. */
export function signParts({ hash, signature }: Scheme, key: Buffer, parts: (Buffer | string)[]): string {
  const hmac = createHmac(hash, key)
  for (const part of parts) hmac.update(part)
  return hmac.digest(signature.encoding)
}

/** Whether the URL names the hash of the body, where the scheme signs it in this way. */
export function isBodyCovered({ bodyHashIn }: Scheme, { isForm, query, body }: SchemeRequest): boolean {
  if (bodyHashIn === undefined || isForm) return true
  return new URLSearchParams(query).get(bodyHashIn)?.toLowerCase() === hash('sha256', body, 'hex')
}

export const partNames = /\{(id|timestamp|body|url|fields)\}/

/** More than any rotation needs. */
const maxSignatures = 16

function splitHeader(value: string, separator: string): string[] {
  const parts = separator === '' ? [value] : value.split(separator, maxSignatures)
  return parts.map((part) => part.trim())
}

/** Without user and password, which are sent in a header, with the port as it is entered, and the other way: without it, or with the usual one. */
function spellUrl(url: string): [string, string] {
  const [, scheme = '', host = '', port, path = ''] =
    /^(https?:\/\/)(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)(:\d*)?(.*)$/is.exec(url) ?? []
  const usual = /^https/i.test(scheme) ? ':443' : ':80'
  const [entered, other] = [port ?? '', port === undefined ? usual : '']
  return [`${scheme}${host}${entered}${path}`, `${scheme}${host}${other}${path}`]
}

function urlOf(publicUrl: string, { query }: SchemeRequest): string {
  const [base = ''] = publicUrl.split('?')
  return query === '' ? base : `${base}?${query}`
}

/** A body is tried with several secrets, and its form is read once. */
const joined = new WeakMap<Buffer, string>()

function joinFieldsOnce(body: Buffer): string {
  const known = joined.get(body) ?? joinFields(body)
  joined.set(body, known)
  return known
}

/** Twilio's way: the names in order, each followed by its value; of several values each once, in order. */
function joinFields(body: Buffer): string {
  const fields = readForm(body) ?? {}
  return Object.keys(fields)
    .sort()
    .map((name) => {
      const values = [...new Set([fields[name] ?? ''].flat())].sort()
      return values.map((value) => name + value).join('')
    })
    .join('')
}
