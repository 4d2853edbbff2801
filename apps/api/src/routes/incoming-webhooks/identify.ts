import { createHash, hash } from 'node:crypto'
import { listSignedParts, readHeader, type SchemeInUse } from '@automation/webhooks'
import type { IncomingDelivery } from './delivery.js'
import { readText } from './read-text.js'

/** What makes a webhook the same as an earlier one. */
export interface Identity {
  key: string
  /** What the key is made of. */
  keyOf: 'id' | 'body'
  /** Where the id is not signed: the same signed bytes are the same webhook, too. */
  uniqueHash?: string
  /** Where there is not even an id: a key that says the same for a delivery of the last minutes. */
  previousKey?: string
}

/** For how long (ms) the same body is the same webhook, where nothing else identifies it. */
export const sameBodyMs = 5 * 60_000

/**
 * Identifies a webhook of a provider: by its id, if it is signed, since a stranger cannot give a captured one another. If it is not, the hash of
 * what is signed is unique, too.
 */
export function identify(
  { scheme, ...inUse }: SchemeInUse,
  delivery: IncomingDelivery,
  payload: unknown,
  now: number,
): Identity {
  const { id, timestamp } = scheme
  const signedHash = hashParts(listSignedParts({ scheme, ...inUse }, delivery))
  const found = readHeader(delivery.headers, id.headers) || (readText(id.paths, payload) ?? '')
  if (found !== '') return { key: toKey(found), keyOf: 'id', ...(!id.isSigned && { uniqueHash: signedHash }) }
  const key = `sha256:${signedHash}`
  const hasSignedTime = timestamp !== undefined && scheme.signed.includes('{timestamp}')
  // Twilio's fields have an id among them. Of others the next webhook may rightly be the same, such as a heartbeat.
  if (hasSignedTime || scheme.signed.includes('{fields}')) return { key, keyOf: 'body' }
  const at = Math.floor(now / sameBodyMs)
  return { key: `${key}:${at}`, keyOf: 'body', previousKey: `${key}:${at - 1}` }
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
