import { listSignedParts, type SchemeInUse, type SchemeRequest, signParts } from './scheme-request.js'

/** A webhook that is about to be sent as its provider would send it. */
export interface UnsignedWebhook extends Omit<SchemeRequest, 'headers'> {
  id: string
  /** Unix seconds. */
  timestamp: string
  type: string
  /** Of the secret, for a scheme that sends it. */
  secretId?: string
}

/** The headers with which the provider would send it. */
export function signByScheme(
  inUse: SchemeInUse,
  key: Buffer,
  webhook: UnsignedWebhook,
): Record<string, string> {
  const { signature, secretIdHeader, timestamp, id, type } = inUse.scheme
  const headers: Record<string, string> = {}
  const set = ([name]: readonly string[], value: string) => {
    if (name !== undefined) headers[name] = value
  }
  set(id.headers, webhook.id)
  set(type.headers, webhook.type)
  if (secretIdHeader !== undefined) headers[secretIdHeader] = webhook.secretId ?? ''
  set(timestamp?.headers ?? [], (timestamp?.prefix ?? '') + webhook.timestamp)
  const parts = listSignedParts(inUse, { ...webhook, headers })
  const text = signature.prefix + signParts(inUse.scheme, key, parts)
  const before =
    timestamp?.prefix === undefined ? '' : timestamp.prefix + webhook.timestamp + signature.separator
  set(signature.headers, before + text)
  return headers
}
