import { createHash, hash } from 'node:crypto'
import { listSignedParts, readHeader, readRepeatsMs, type SchemeInUse } from '@automation/webhooks'
import type { IncomingDelivery } from './delivery.js'
import { findMappedType } from './find-mapped-type.js'
import { readText } from './read-text.js'
import type { SignedDelivery } from './verify-delivery.js'

/** What makes a webhook the same as an earlier one. */
export interface Identity {
  key: string
  /** What the key is made of. */
  keyOf: 'id' | 'body'
  /** Where the id is not signed: the same signed bytes are the same webhook, too. */
  uniqueHash?: string | undefined
  /** Where the same bytes are the same webhook for a time only: how long (ms), and the hash that they had in the interval before. */
  previous?: { hash: string; withinMs: number }
}

/** For how long (ms) the same body is the same webhook, where nothing else identifies it and no setting says so. */
const sameBodyMs = 5 * 60_000

/**
 * Identifies a webhook: by its id, if it is signed, since a stranger cannot give a captured one another. If it is not, the hash of
 * what is signed, and of a mapped type in a header, is unique, too.
 */
export function identify(
  { inUse, secret }: SignedDelivery,
  delivery: IncomingDelivery,
  payload: unknown,
  now: number,
): Identity {
  const { scheme } = inUse
  const { id, timestamp, type } = scheme
  const found = readHeader(delivery.headers, id.headers) || (readText(id.paths, payload) ?? '')
  if (found !== '' && id.isSigned) return { key: toKey(found), keyOf: 'id' }
  const hashed = hashParts(inUse, delivery)
  // Shopify signs an order alone: orders/create and orders/paid have the same bytes. No header is signed, so a stranger may name another type:
  // those that are mapped count, once each.
  const mapped = readHeader(delivery.headers, type.headers)
    ? findMappedType(scheme, secret.settings ?? {}, delivery.headers, payload)
    : undefined
  const signedHash = mapped === undefined ? hashed : hash('sha256', `${hashed} ${mapped}`, 'hex')
  const hasSignedTime = timestamp !== undefined && scheme.signed.includes('{timestamp}')
  // Twilio's fields have an id among them, and so have the bodies of GitHub and Shopify. Of others the next webhook may rightly be the same,
  // such as a heartbeat.
  const isForGood =
    hasSignedTime ||
    scheme.signed.includes('{fields}') ||
    secret.scheme === 'meta' ||
    (found !== '' && secret.scheme !== 'generic')
  // With 0 the signed id alone decides. A webhook without one is what it would be without the setting.
  const chosenMs = readRepeatsMs(secret.settings?.repeatsFor ?? '') || undefined
  const withinMs = chosenMs ?? (isForGood ? undefined : sameBodyMs)
  const unique = withinMs ? hashWithin(signedHash, withinMs, now) : { uniqueHash: signedHash }
  if (found !== '') return { key: toKey(found), keyOf: 'id', ...unique }
  const { uniqueHash, ...previous } = unique
  return { key: keyOfHash(uniqueHash), keyOf: 'body', ...previous }
}

/** Receipts are unique for longer than a repeat is one, so the hash has its interval in it, and the one before is looked up. */
function hashWithin(signedHash: string, withinMs: number, now: number) {
  const at = Math.floor(now / withinMs)
  const hashAt = (interval: number) => hash('sha256', `${signedHash} ${withinMs} ${interval}`, 'hex')
  return { uniqueHash: hashAt(at), previous: { hash: hashAt(at - 1), withinMs } }
}

/** A question of the provider, which is no webhook: its key says so. */
export function identifyChallenge({ inUse }: SignedDelivery, delivery: IncomingDelivery): Identity {
  return { key: keyOfChallenge(hashParts(inUse, delivery)), keyOf: 'body' }
}

/** @param hashed of what was asked */
export function keyOfChallenge(hashed: string): string {
  return `challenge:${hashed}`
}

/** The key of a webhook without an id. */
export function keyOfHash(uniqueHash: string): string {
  return `sha256:${uniqueHash}`
}

/** The hash of what is the same in each delivery of a webhook. */
function hashParts(inUse: SchemeInUse, delivery: IncomingDelivery): string {
  const isBodyAlone = inUse.scheme.identifiedBy === 'body'
  const digest = createHash('sha256')
  for (const part of isBodyAlone ? [delivery.body] : listSignedParts(inUse, delivery)) digest.update(part)
  return digest.digest('hex')
}

/** An id of another look is stored as its hash. */
function toKey(id: string): string {
  return /^[A-Za-z0-9_:.-]{1,255}$/.test(id) ? id : `id-sha256:${hash('sha256', id, 'hex')}`
}
