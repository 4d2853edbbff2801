import { createHash, hash } from 'node:crypto'
import { listSignedParts, readHeader } from '@automation/webhooks'
import type { IncomingDelivery } from './delivery.js'
import { findMappedType } from './find-mapped-type.js'
import { readText } from './read-text.js'
import type { SignedByProvider } from './verify-provider.js'

/** What makes a webhook the same as an earlier one. */
export interface Identity {
  key: string
  /** What the key is made of. */
  keyOf: 'id' | 'body'
  /** Where the id is not signed: the same signed bytes are the same webhook, too. */
  uniqueHash?: string | undefined
  /** Where the same bytes are the same webhook for minutes only: the hash that they had in the interval before. */
  previousHash?: string
}

/** For how long (ms) the same body is the same webhook, where nothing else identifies it. */
export const sameBodyMs = 5 * 60_000

/**
 * Identifies a webhook of a provider: by its id, if it is signed, since a stranger cannot give a captured one another. If it is not, the hash of
 * what is signed, and of a mapped type in a header, is unique, too.
 */
export function identify(
  { inUse, secret }: SignedByProvider,
  delivery: IncomingDelivery,
  payload: unknown,
  now: number,
): Identity {
  const { scheme } = inUse
  const { id, timestamp, type } = scheme
  const hashed = hashParts(listSignedParts(inUse, delivery))
  // Shopify signs an order alone: orders/create and orders/paid have the same bytes. No header is signed, so a stranger may name another type:
  // those that are mapped count, once each.
  const mapped = readHeader(delivery.headers, type.headers)
    ? findMappedType(scheme, secret.settings ?? {}, delivery.headers, payload)
    : undefined
  const signedHash = mapped === undefined ? hashed : hash('sha256', `${hashed} ${mapped}`, 'hex')
  const found = readHeader(delivery.headers, id.headers) || (readText(id.paths, payload) ?? '')
  if (found !== '' && id.isSigned) return { key: toKey(found), keyOf: 'id' }
  const hasSignedTime = timestamp !== undefined && scheme.signed.includes('{timestamp}')
  // Twilio's fields have an id among them, and so have the bodies of GitHub and Shopify. Of others the next webhook may rightly be the same,
  // such as a heartbeat.
  const isForGood =
    hasSignedTime || scheme.signed.includes('{fields}') || (found !== '' && secret.scheme !== 'generic')
  const at = Math.floor(now / sameBodyMs)
  const hashAt = (interval: number) => hash('sha256', `${signedHash} ${interval}`, 'hex')
  const uniqueHash = isForGood ? signedHash : hashAt(at)
  const previous = isForGood ? {} : { previousHash: hashAt(at - 1) }
  if (found !== '') return { key: toKey(found), keyOf: 'id', uniqueHash, ...previous }
  return { key: keyOfHash(uniqueHash), keyOf: 'body', ...previous }
}

/** The key of a webhook without an id. */
export function keyOfHash(uniqueHash: string): string {
  return `sha256:${uniqueHash}`
}

function hashParts(parts: (Buffer | string)[]): string {
  const digest = createHash('sha256')
  for (const part of parts) digest.update(part)
  return digest.digest('hex')
}

/** An id of another look is stored as its hash. */
function toKey(id: string): string {
  return /^[A-Za-z0-9_:.-]{1,200}$/.test(id) ? id : `id-sha256:${hash('sha256', id, 'hex')}`
}
